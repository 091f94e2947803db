/** `main` of rdpipe: parses the command line, runs the pipeline or subcommand, returns the exit status. */
import { isatty } from 'node:tty';
import { loadSettings } from '../config/load.ts';
import { statusOf } from '../model/errors.ts';
import { byPosition } from '../model/pipeline.ts';
import { type Invocation, parseArgv } from '../parse/argv.ts';
import { parseStages } from '../parse/stage.ts';
import type { OutputDestination } from '../ui/terminal/create-renderer.ts';
import { failureText } from '../ui/terminal/failure.ts';
import { openTerminal, type Terminal } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import { connectDescriptors } from './own-descriptors.ts';
import { printInformation } from './print-information.ts';
import { runShown, type ShownRun, type WantedRun } from './run-pipeline.ts';
import { isFile, userStreams } from './user-streams.ts';

/** Runs the command line `words`, binary strings, and returns the exit status. Never throws. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const terminal = openTerminal(io.environment);
  try {
    return await invoke(parseArgv(words), io, terminal);
  } catch (error) {
    terminal.write(failureText(error, undefined, undefined, terminal.columns?.()));
    return statusOf(error);
  }
}

async function invoke(invocation: Invocation, io: Io, terminal: Terminal): Promise<number> {
  switch (invocation.kind) {
    case 'help':
    case 'version':
      await printInformation(invocation);
      return 0;
    case 'demo': {
      const { demo } = await import('./demo.ts');
      return demo(invocation.words, io.environment);
    }
    case 'doctor': {
      const { doctor } = await import('./doctor.ts');
      return doctor(invocation, io, terminal);
    }
    case 'bench': {
      const { bench } = await import('./bench.ts');
      return bench(invocation, io, terminal);
    }
    case 'run':
      return runShown(invocation.options.json === true, () => readShown(invocation, io), io, terminal);
  }
}

type RunInvocation = Extract<Invocation, { kind: 'run' }>;

async function readShown(invocation: RunInvocation, io: Io): Promise<ShownRun> {
  const wanted = await readInvocation(invocation, io);
  return { wanted, shown: { output: outputPlace(wanted) } };
}

async function readInvocation({ options, optionWords, stageWords }: RunInvocation, io: Io): Promise<WantedRun> {
  const settings = await loadSettings(options, io.environment);
  const pipeline = parseStages(stageWords, { optionWords, settings });
  const connected = connectDescriptors({ pipeline, streams: userStreams(settings) });
  return { settings, ...connected, words: { program: 'rdpipe', optionWords, stageWords } };
}

/**
 * The destination is unknown if a local process writes it: a command on this machine or the program that gathers the
 * output of several hosts may write to the terminal at any time, and so may a program at the end of a pipe.
 */
function outputPlace({ pipeline, streams }: WantedRun): OutputDestination {
  const parts = byPosition(pipeline.stages).at(-1) ?? [];
  const [last] = parts;
  const [, output] = streams.descriptors ?? [0, 1];
  if (streams.stdout === 'drop' || output !== 1 || last?.kind === 'sink' || isFile(1)) return 'elsewhere';
  const writesItself = parts.length > 1 || (last?.kind === 'command' && last.host.name === '');
  return isatty(1) && !writesItself ? 'announced' : 'unknown';
}
