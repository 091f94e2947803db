/** The texts of --help, at most 80 columns wide, made from the option table. */
import { UsageError } from '../model/errors.ts';
import { flagTexts, type OptionRow, valueText } from '../model/option-row.ts';
import { optionsOf, type Topic } from '../model/options.ts';
import { forMessage } from './binary-string.ts';

const WIDTH = 80;
const INDENT = 27;

/**
 * The help for a topic; without one that of rdpipe itself.
 * @throws UsageError
 */
export function helpText(words: readonly string[]): string {
  const [topic = '', ...more] = words;
  const text = TOPICS.get(topic);
  if (text === undefined || more.length > 0) {
    const names = [...TOPICS.keys()].filter((name) => name !== '').join(', ');
    throw new UsageError(`there is no help for '${forMessage(words.join(' '))}' (rdpipe help, or one of: ${names})`);
  }
  return text();
}

const TOPICS: ReadonlyMap<string, () => string> = new Map([
  ['', () => withOptions(HEAD, 'run', TAIL)],
  ['doctor', () => withOptions(DOCTOR_HEAD, 'doctor', DOCTOR_TAIL)],
  ['bench', () => withOptions(BENCH_HEAD, 'bench', BENCH_TAIL)],
  ['demo', () => DEMO],
  ['rdcp', () => withOptions(COPY_HEAD, 'copy', COPY_TAIL)],
]);

function withOptions(head: string, topic: Topic, tail: string): string {
  const rows = optionsOf(topic).map(([, row]) => row);
  const brief = rows.filter((row) => row.brief === true).map((row) => namesOf(row).replaceAll(' ', NO_BREAK));
  const lines = rows.filter((row) => row.brief !== true).flatMap(optionLines);
  return [head, 'Options:', ...lines, ...briefLines(brief), '', tail].join('\n');
}

/** Options that the manual explains. */
function briefLines(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const lines = wrap(names.join(', '), WIDTH - 2).map((line) => `  ${line.replaceAll(NO_BREAK, ' ')}`);
  return ['The manual describes these, most of them as for rdpipe:', ...lines];
}

export const NO_BREAK = '\u00a0';

const HEAD = `Usage: rdpipe [options] STAGE...
       rdpipe doctor [options] HOST...
       rdpipe bench [options] HOST HOST
       rdpipe demo
       rdpipe help [doctor|bench|demo]

Runs commands on hosts and joins them with pipes that run from host to host.
ssh carries control only; the data goes directly between the hosts.

STAGE is [user@]host:COMMAND, run by sh on that host; :COMMAND is this machine.
A COMMAND that is < FILE, > FILE or >> FILE reads or writes that file.
Options end at the first STAGE. Quote a COMMAND of several words.

  echo hi | rdpipe h1:'tr a-z A-Z' h2:rev
  rdpipe h1:'zfs send tank/a@now' h2:'zfs recv tank/a'
`;

const TAIL = `Exit status: 0 success; the first failed stage's own, or 128 + its signal;
2 usage; 124 a time limit; 125 rdpipe itself failed; 129, 130, 143 signals.
`;

const DOCTOR_HEAD = `Usage: rdpipe doctor [options] HOST...

Checks each host and each pair of neighbours: ssh, agent, RDMA devices and
libraries, limits, MTU, kernel settings, firewalls; moves data for a second each
way over RDMA and TCP; prints its findings, and a fix for each problem.
HOST is [user@]host; : is this machine, which joins a HOST that is alone.

  rdpipe doctor h1 h2 h3
`;

const DOCTOR_TAIL = `Exit status: 0 no problem, perhaps warnings; 1 a check failed; 2 usage;
125 rdpipe itself failed; 129, 130, 143 signals.
`;

const BENCH_HEAD = `Usage: rdpipe bench [options] HOST HOST

Measures streams from the first host to the second: over RDMA where both have
it, over TCP in clear and encrypted, and by ssh; in rounds of all of them.
Prints rates, CPU seconds per GiB at each end, and round trips.
HOST is [user@]host; : is this machine.

  rdpipe bench h1 h2
`;

const BENCH_TAIL = `Exit status: 0 success; 2 usage; 125 a way failed that should work, or rdpipe
itself failed; 129, 130, 143 signals.
`;

const COPY_HEAD = `Usage: rdcp [options] SRC... DST

Copies files and trees from host to host; ssh carries control only.
SRC and DST are [user@]host:PATH, PATH on this machine (./a:b where a : would
name a host), rd://host/PATH of rdrecv --serve, or - for standard input, output.
dir copies the directory into DST, dir/ its contents, as with rsync.

  rdcp -a h1:run7 h2:/data/       # /data/run7; again: what is missing
  rdcp -a --delete site/ h1:site  # makes h1:site the same as site
`;

const COPY_TAIL = `Exit status: 0 all copied; 23 some paths failed, each is named, all others are
copied; 2 usage; 124 a time limit; 125 rdcp failed; 129, 130, 143 signals.
`;

const DEMO = `Usage: rdpipe demo

Starts two throwaway hosts in this process, h1 and h2, and runs two pipelines
between them: it prints IH, and moves 2 GiB. Leaves nothing behind.

Exit status: 0 success; that of the first pipeline that failed; 2 usage.
`;

function optionLines(row: OptionRow): readonly string[] {
  const flags = `  ${flagsOf(row)}`;
  const lines = wrap(helpOf(row), WIDTH - INDENT).map((line) => ' '.repeat(INDENT) + line);
  const fits = flags.length < INDENT - 1;
  return fits ? [flags + (lines[0] ?? '').slice(flags.length), ...lines.slice(1)] : [flags, ...lines];
}

function flagsOf(row: OptionRow): string {
  return `${row.short === undefined ? '    ' : ''}${namesOf(row)}`;
}

/** `-p, --port PORT[-PORT]`. */
function namesOf(row: OptionRow): string {
  const names = flagTexts(row).join(', ');
  const value = valueText(row);
  return value === undefined ? names : `${names} ${value}`;
}

/** With bounds and default: `a hop's window (64KiB to 1GiB; default: 8MiB)`. */
function helpOf({ help, least, most, default: value, unset = value }: OptionRow): string {
  const bounds = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  const notes = [...(least === undefined ? [] : [bounds]), ...(unset === undefined ? [] : [`default: ${unset}`])];
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
}

/** Lines of at most `width`, broken at blanks. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
