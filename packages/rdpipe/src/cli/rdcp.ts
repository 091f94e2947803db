/** `main` of rdcp: parses the command line, copies, returns the exit status. */
import { randomBytes, randomUUID } from 'node:crypto';
import { isatty } from 'node:tty';
import { loadSettings } from '../config/load.ts';
import { copyPipeline } from '../copy/pipeline.ts';
import { type CopyWants, checkForMany, checkForStream, checkTogether } from '../copy/settings.ts';
import type { CopyPaths, CopySide } from '../model/copy.ts';
import { statusOf, UsageError } from '../model/errors.ts';
import type { Settings } from '../model/settings.ts';
import { type CopyInvocation, parseCopyArgv } from '../parse/argv.ts';
import { parseCopyPaths } from '../parse/copy-paths.ts';
import type { OutputDestination, RendererIo } from '../ui/terminal/create-renderer.ts';
import { failureText, messageLine } from '../ui/terminal/failure.ts';
import { openTerminal } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import { loadList } from './load-list.ts';
import { loadPatterns } from './load-patterns.ts';
import { descriptorOf, withInput } from './own-descriptors.ts';
import { printInformation } from './print-information.ts';
import { runShown, type ShownRun, type WantedRun } from './run-pipeline.ts';
import { isFile, userStreams } from './user-streams.ts';

/** Runs the command line `words`, binary strings, and returns the exit status. Never throws. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const terminal = openTerminal(io.environment);
  try {
    const invocation = parseCopyArgv(words);
    if (invocation.kind === 'copy') {
      const { options, ignored } = invocation;
      if (options.verbosity !== undefined && options.json !== true)
        for (const text of ignored) terminal.write(messageLine(text, undefined, 'rdcp'));
      return await runShown(options.json === true, () => readShown(invocation, io), io, terminal);
    }
    await printInformation(invocation);
    return 0;
  } catch (error) {
    terminal.write(failureText(error, undefined, 'rdcp', terminal.columns?.()));
    return statusOf(error);
  }
}

type Copy = Extract<CopyInvocation, { kind: 'copy' }>;

async function readShown(invocation: Copy, io: Io): Promise<ShownRun> {
  const wanted = await readInvocation(invocation, io);
  return { wanted, shown: { output: outputPlace(wanted), ...shownAs(wanted) } };
}

async function readInvocation({ options, words, pathWords }: Copy, io: Io): Promise<WantedRun> {
  const settings = await loadSettings(options, io.environment);
  const paths = parseCopyPaths(pathWords, { words, settings });
  const isStream = paths.source.kind === 'stream' || paths.target.kind === 'stream';
  if (isStream) checkForStream(options);
  checkTogether(options, paths.source.kind === 'stream' ? 1 : paths.source.paths.length);
  if (paths.target.kind === 'paths' && paths.target.others !== undefined) checkForMany(options);
  checkInput(paths, settings);
  checkPaths(paths);
  const wants: CopyWants = {
    ...settings,
    run: randomUUID().replaceAll('-', ''),
    key: randomBytes(KEY_BYTES).toString('hex'),
    patterns: await loadPatterns(settings.patterns),
    list: await loadList(settings.filesFrom),
  };
  return {
    ...planned(paths, wants),
    // The plan of a tree copy comes from its programs, which a dry run of rdpipe would not start.
    settings: { ...settings, lenient: false, dryRun: isStream && settings.dryRun },
    words: { program: 'rdcp', optionWords: words, stageWords: [] },
  };
}

const KEY_BYTES = 16;

/** Rejects descriptors of this process as paths, which its programs could not open. */
function checkPaths({ source, target }: CopyPaths): void {
  const local = (side: CopySide) => (side.kind === 'paths' && side.host.name === '' ? side.paths : []);
  const [input] = local(source).filter((path) => descriptorOf(path) !== undefined);
  if (input !== undefined) throw new UsageError(`${input} is a stream, not a file (write: COMMAND | rdcp - DST)`);
  const [output] = local(target).filter((path) => descriptorOf(path) !== undefined);
  if (output !== undefined) throw new UsageError(`${output} is a stream, not a file (write: rdcp SRC - | COMMAND)`);
}

/** Standard output carries a file or a plan, or nothing. */
function planned(paths: CopyPaths, wants: CopyWants): Pick<WantedRun, 'pipeline' | 'streams'> {
  // A program of the copy could not open a descriptor of this process.
  const list = wants.filesFrom === undefined ? undefined : descriptorOf(wants.filesFrom);
  const listed = list === undefined ? wants : { ...wants, filesFrom: '-' };
  const { pipeline, readsInput, writesOutput } = copyPipeline(paths, listed);
  const users = userStreams({ stdin: readsInput ? 'auto' : 'none' });
  const streams = list !== undefined && readsInput ? withInput(users, list) : users;
  return { pipeline, streams: writesOutput ? streams : { ...streams, stdout: 'drop' } };
}

/** Rejects a terminal as input: a copy of typed text is hardly intended, and rdpipe does not read from terminals. */
function checkInput({ source }: CopyPaths, { filesFrom }: Settings): void {
  if ((source.kind !== 'stream' && filesFrom !== '-') || !isatty(0)) return;
  throw new UsageError('standard input is a terminal (redirect it from a file or a pipe: < FILE)');
}

function shownAs({ pipeline }: WantedRun): Pick<RendererIo, 'program' | 'copy'> {
  const roles = pipeline.stages.flatMap((stage) => (stage.kind === 'tree' ? [stage.settings.role] : []));
  if (roles.length === 0) return { program: 'rdcp' };
  return { program: 'rdcp', copy: roles.at(-1) === 'compare' ? 'plan' : 'copy' };
}

/** The destination of the output, which is a file's contents or a plan. */
function outputPlace({ streams }: WantedRun): OutputDestination {
  if (streams.stdout === 'drop' || isFile(1)) return 'elsewhere';
  return isatty(1) ? 'announced' : 'unknown';
}
