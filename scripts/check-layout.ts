// SPDX-License-Identifier: Apache-2.0
/**
 * Checks that every directory has a row in DIRECTORIES, and every file a first line of comment.
 * `npm run layout` prints both.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { ROOT, sourceFiles } from './source-files.ts';

/** In the order of the layout. Below src/ each directory has a row, elsewhere each part of the project. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  'packages/rdpipe/src': 'The control plane: everything that rdpipe does on the machine of the user',
  'packages/rdpipe/src/model':
    'Data types for every directory: pipeline, plan, settings, protocol, events, report, errors',
  'packages/rdpipe/src/parse': 'The command line, in exact bytes: options, stages and hosts',
  'packages/rdpipe/src/config': 'Settings: from flags, then the configuration file, then defaults',
  'packages/rdpipe/src/plan': 'Decisions before a run, pure: segments, links, routes over RDMA and TCP',
  'packages/rdpipe/src/copy':
    'rdcp: paths and options become a pipeline of programs that scan, compare, read and write',
  'packages/rdpipe/src/session':
    "Control connections to hosts: the system's ssh, the ssh2 library, this machine itself",
  'packages/rdpipe/src/session/openssh':
    "Sessions over the system's ssh: one master connection per host, channels as its clients",
  'packages/rdpipe/src/session/ssh2': 'Sessions in this process with the ssh2 library, configured as ssh is',
  'packages/rdpipe/src/session/launcher':
    'Sessions through programs other than ssh: podman, docker, kubectl, lxc, templates',
  'packages/rdpipe/src/session/launcher/slurm': 'Sessions to the nodes of a Slurm job, all over one step',
  'packages/rdpipe/src/session/prompts': 'Questions that ssh asks the user: passwords, codes, host keys',
  'packages/rdpipe/src/agent':
    'The native programs: finding them, copying them to a host, and communication with an agent',
  'packages/rdpipe/src/run': 'A run: prepare, connect, start, collect events, find the first cause, tear down',
  'packages/rdpipe/src/doctor': 'rdpipe doctor: pure checks turn facts about hosts into findings',
  'packages/rdpipe/src/bench': 'rdpipe bench: methods of moving data between two hosts; each stream is an ordinary run',
  'packages/rdpipe/src/ui': 'Output for people and programs: live rows, lines, summary, JSON, pages with plots',
  'packages/rdpipe/src/ui/terminal': 'Output on a terminal: live rows, progress, colors',
  'packages/rdpipe/src/ui/pages': 'HTML pages: tables, and plots as SVG text',
  'packages/rdpipe/src/cli': 'The entry points of rdpipe, its subcommands and rdcp',
  'packages/rdbase-native/src': 'The base of all C programs',
  'packages/rdbase-native/src/base':
    'Errors, bytes, text, input and output, digests, lines of JSON, facts about the machine',
  'packages/rdbase-native/src/ring': 'Rings of bytes between two threads, or between two programs of a host',
  'packages/rdbase-native/src/sandbox': 'Rights that a program gives up before it reads data from peers',
  'packages/rdendpoint-native/src': 'Parts of both ends of a hop, rdsend and rdrecv, which carry one stream of bytes',
  'packages/rdendpoint-native/src/wire': 'The wire protocol: the only decoder of bytes from a peer, windows and slots',
  'packages/rdendpoint-native/src/crypto': 'Handshake, seals, signatures and keys',
  'packages/rdendpoint-native/src/transport':
    'The interface to the network: complete messages in order, and code that all backends share',
  'packages/rdendpoint-native/src/transport/tcp': 'Messages over TCP connections',
  'packages/rdendpoint-native/src/transport/verbs': 'Messages over RDMA connections',
  'packages/rdendpoint-native/src/codec':
    'DATA frames: a pool of threads compresses and seals, opens and decompresses them',
  'packages/rdendpoint-native/src/conn':
    'A connection between two ends: dialing, listening, authentication, credit, keepalive',
  'packages/rdendpoint-native/src/hop': 'The loop of an end: its connection, counters and time limits',
  'packages/rdendpoint-native/src/agent': 'The channel between the agent and the programs of a hop',
  'packages/rdendpoint-native/src/cli': 'The command line of rdsend and rdrecv, and running them without an agent',
  'packages/rdsend-native/src': 'The sending end: from a source through a ring to the wire',
  'packages/rdsend-native/src/source': 'Sources: pipes, files, the rate limit',
  'packages/rdrecv-native/src': 'The receiving end: from the wire through a writer to a sink',
  'packages/rdrecv-native/src/sink': 'Sinks: pipes, and files that appear when they are complete',
  'packages/rdserve-native/src': 'The serving receiver: the root of its include paths',
  'packages/rdserve-native/src/serve': 'rdrecv --serve: copies for clients that have a key, without ssh',
  'packages/rdforward-native/src': 'rdforward: the root of its include paths',
  'packages/rdforward-native/src/forward': 'Connections of -L and -R, many in one stream per direction',
  'packages/rdgather-native/src': 'rdgather: the root of its include paths',
  'packages/rdgather-native/src/gather': 'Merging the outputs of several hosts into one, line by line',
  'packages/rdssh-native/src': 'The front of rdssh: the root of its include paths',
  'packages/rdssh-native/src/ssh': "ssh's command line is translated for rdpipe, or left to ssh",
  'packages/rdhop-native/src': 'The program that contains all of the above; its name or first argument selects one',
  'packages/rdstage-native/src': 'The agent: it starts and supervises the processes of a run on one host',
  'packages/rdstage-native/src/runtime': 'One thread that waits for descriptors and timers, lines in and out, JSON',
  'packages/rdstage-native/src/process': 'Starting, listing, limiting and ending processes',
  'packages/rdstage-native/src/host': 'Facts about the host: addresses, RDMA ports, the paths of programs',
  'packages/rdstage-native/src/protocol': 'Requests from rdpipe, events to it, the hello, the command line',
  'packages/rdstage-native/src/run':
    'A run on this host: guardian, supervisor, segments, stages, links, ends of hops, shutdown',
  'packages/rdtree-native/src': 'Copies of files and trees: each program of a copy is one stage of a pipeline',
  'packages/rdtree-native/src/stream':
    'The tree format: the only encoder and decoder of records, their reader and writer',
  'packages/rdtree-native/src/setup': 'The settings of a stage',
  'packages/rdtree-native/src/threads': 'Threads that wait for a disk or a file server',
  'packages/rdtree-native/src/pattern': 'Patterns that exclude parts of the source',
  'packages/rdtree-native/src/report': 'Events for rdpipe, or lines for people: progress, failures, paths',
  'packages/rdtree-native/src/entry':
    'Entries of a source or target: paths, open directories, metadata, attributes, owners',
  'packages/rdtree-native/src/scan': 'The source: its directories and metadata',
  'packages/rdtree-native/src/compare': 'The target: finding missing and superfluous entries',
  'packages/rdtree-native/src/unite': 'Merging the decisions of several targets into one stream',
  'packages/rdtree-native/src/read': 'The source: the contents of files',
  'packages/rdtree-native/src/target':
    'The target: its files, which appear when they are complete and on disk, links, metadata',
  'packages/rdtree-native/src/write':
    'The target: incoming contents and decisions, and the order in which they are applied',
  'packages/rdtree-native/src/clean': 'The source: removing files that were moved',
  'packages/rdtree-native/src/send': 'The source, without comparison: for rdsend',
  bin: 'Shims that run the built programs and build nothing; the one of rdpipe lowers the limit of core files',
  contrib: 'Files for other programs: units of systemd, shell completion',
  'contrib/completion':
    'Completion for bash, zsh and fish: `npm run fix` writes its options, `complete.sh` finds hosts and paths',
  docs: 'Guides, the protocol, tests, benchmarks',
  'docs/adr': 'Decisions and their reasons',
  'docs/protocol': 'The protocol: frames, the agent, trees, serving, forwards',
  'docs/notes': 'Laboratory notes, dated',
  'packages/rdpipe/man': 'Manual pages of rdpipe and its subcommands',
  'packages/rdpipe/test': 'Unit tests, in the same directories as in src',
  'packages/rdbase-native/test': 'C suites of the base, and code that all suites use',
  'packages/rdbase-native/fuzz': 'Fuzz targets of the base, code that all targets use, and the replay of kept inputs',
  'packages/rdendpoint-native/test': 'C suites of code that both ends share, and the peers that suites use',
  'packages/rdendpoint-native/fuzz':
    'Fuzz targets of code that both ends share, with stand-ins for network and ciphers',
  'packages/rdsend-native/man': 'Manual page of rdsend',
  'packages/rdsend-native/test': 'C suites of the sending end',
  'packages/rdsend-native/fuzz': 'The fuzz target of the sending end',
  'packages/rdrecv-native/man': 'Manual page of rdrecv',
  'packages/rdrecv-native/test': 'C suites of the receiving end',
  'packages/rdrecv-native/fuzz': 'The fuzz target of the receiving end',
  'packages/rdserve-native/test': 'C suites of the server',
  'packages/rdforward-native/test': 'C suites of rdforward',
  'packages/rdforward-native/fuzz': 'Fuzz targets of rdforward',
  'packages/rdgather-native/test': 'The C suite of rdgather',
  'packages/rdgather-native/fuzz': 'The fuzz target of rdgather',
  'packages/rdssh-native/test': 'The C suite of the front',
  'packages/rdhop-native/test': 'C suites of both ends together, and faults between them',
  'packages/rdhop-native/fuzz': 'Fuzz targets of whole programs: rdsend and rdrecv',
  'packages/rdstage-native/man': 'Manual page of rdstage',
  'packages/rdstage-native/test': 'C suites of the agent',
  'packages/rdtree-native/fuzz': 'Fuzz targets of the programs of a copy, with their corpora',
  'packages/rdtree-native/test': 'C suites of the programs of a copy',
  'packages/rdtree-native/man': 'Manual page of rdtree',
  'packages/rdstage-native/fuzz': 'Fuzz targets of the agent, with their corpora',
  scripts: 'Set-up, bundle, tests, checks, coverage, fuzzing',
  'scripts/dist': 'The packages that npm run dist creates, each in a file of its own',
  'scripts/test': 'The parts of npm test: their forms, those that a change affects, leftovers of a run, its report',
  'scripts/setup': 'The steps of npm run build: system packages, pnpm, dependencies, builds; reasons of failures',
  test: 'Suites against the built programs',
  'test/hop': 'rdsend and rdrecv as programs',
  'test/agent': 'rdstage, driven over its standard input and output',
  'test/copy': 'rdtree as a program, one program of a copy at a time',
  'test/integration': 'bin/rdpipe as a user runs it, over real OpenSSH servers',
  'test/serve': 'rdrecv --serve: copies, unauthenticated peers, hostile clients, signals',
  'test/tools': 'rdssh in place of ssh, on its own and started by other programs',
  'test/terminal': 'The installed program in terminals of several sizes',
  'test/faults': 'Killed processes, broken networks, full disks, exhausted limits',
  'test/attacks': 'Hostile hosts, peers and unauthenticated connections',
  'test/lab': 'RDMA between virtual hosts, and the hosts themselves',
  'test/full': 'Tests that take long: npm run test:full',
  'test/bench': 'npm run bench: rdpipe compared with other tools',
  'test/toolchain': 'The build, its flags, and these checks',
  'test/support': 'Fixtures: hosts, networks, programs, browsers',
};

const MAX_COLUMNS = 120;
const NAME_COLUMNS = 26;
const MAX_COMMENT = 100;

/** Texts of files, by path below the root of the checkout. */
type Tree = ReadonlyMap<string, string>;

export interface Layout {
  /** One or more lines for each directory and module, in order. */
  readonly text: string;
  /** Files without their line, directories without a row, rows without a directory. */
  readonly complaints: readonly string[];
}

interface Entry {
  readonly depth: number;
  readonly name: string;
  readonly text: string;
}

/** Makes the layout of `tree`; `directories` has a text for each directory. */
export function makeLayout(tree: Tree, directories: Readonly<Record<string, string>>): Layout {
  const found = new Set([...tree.keys()].flatMap(directoriesOf));
  const known = Object.keys(directories);
  const unknown = [...found].filter((directory) => !known.includes(directory));
  const ordered = [...known.filter((directory) => found.has(directory)), ...unknown];
  const tops = ordered.filter((directory) => /^packages\/[^/]+\/src$/.test(directory));
  const blocks = tops.map((top) => linesOf(sourceEntries(top, 0, ordered, tree, directories)));
  const others = ordered.filter((directory) => !isSource(`${directory}/`));
  blocks.push(linesOf(others.map((path) => ({ depth: 0, name: `${path}/`, text: directories[path] ?? '' }))));
  return {
    text: blocks.map((lines) => lines.join('\n')).join('\n\n'),
    complaints: [
      ...[...tree].filter(([file]) => isSource(file) && modulesFile(file, tree) === file).flatMap(commentComplaints),
      ...unknown.map((directory) => `${directory}: no row in DIRECTORIES of scripts/check-layout.ts`),
      ...known
        .filter((directory) => !found.has(directory))
        .map((directory) => `${directory}: a row in DIRECTORIES, and no such directory`),
    ],
  };
}

/** The directories above a file that need a row: all below src, elsewhere the top two. */
function directoriesOf(file: string): string[] {
  const parts = dirname(file).split('/');
  if (parts[0] === '.' || file.startsWith('.')) return [];
  const first = parts[0] === 'packages' ? 3 : 1;
  const last = isSource(file) ? parts.length : Math.min(parts.length, Math.max(first, 2));
  const counts = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return counts.map((count) => parts.slice(0, count).join('/'));
}

function isSource(path: string): boolean {
  return /^packages\/[^/]+\/src\//.test(path);
}

/** Entries for a directory, its modules, then its subdirectories. */
function sourceEntries(
  directory: string,
  depth: number,
  ordered: readonly string[],
  tree: Tree,
  directories: Readonly<Record<string, string>>,
): Entry[] {
  const name = `${depth === 0 ? directory : basename(directory)}/`;
  const files = [...tree.keys()].filter((file) => dirname(file) === directory && modulesFile(file, tree) === file);
  const modules = files.map((file) => ({
    depth: depth + 1,
    name: moduleName(file, tree),
    text: firstComment(tree.get(file) ?? '')?.text ?? '',
  }));
  const below = ordered.filter((other) => dirname(other) === directory);
  return [
    { depth, name, text: directories[directory] ?? '' },
    ...modules.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...below.flatMap((other) => sourceEntries(other, depth + 1, ordered, tree, directories)),
  ];
}

/** The file with a module's comment: the header of a .c file, if there is one. */
function modulesFile(file: string, tree: Tree): string {
  const header = file.replace(/\.c$/, '.h');
  return tree.has(header) ? header : file;
}

/** `ring` for ring.c and ring.h; a single file keeps its extension. */
function moduleName(file: string, tree: Tree): string {
  const pair = extname(file) === '.h' && tree.has(file.replace(/h$/, 'c'));
  return basename(file, pair ? '.h' : '');
}

/** The first line of the comment at the beginning of a text, and whether it is a complete phrase. */
function firstComment(text: string): { readonly text: string; readonly whole: boolean } | undefined {
  const lines = text.split('\n').filter((line, index) => index > 0 || !line.startsWith('// SPDX-'));
  if (lines[0] === '/**') lines.shift();
  const [first = '', next = ''] = lines;
  const comment = /^(?:\/\/|\/\*\*| \*(?!\/))\s*(.*?)\s*(?:\*\/)?$/.exec(first)?.[1];
  if (comment === undefined || comment === '') return undefined;
  const goesOn = !first.endsWith('*/') && /^(\/\/| \*(?!\/))\s*\S/.test(next);
  return { text: comment.replace(/\.$/, ''), whole: !goesOn || comment.endsWith('.') };
}

function commentComplaints([file, text]: readonly [string, string]): string[] {
  const comment = firstComment(text);
  if (comment === undefined) return [`${file}: begin it with a line of comment that says what it is for`];
  if (!comment.whole)
    return [`${file}: its first line continues in the next (make it a complete phrase, with a period)`];
  if (comment.text.length > MAX_COMMENT) return [`${file}: its first line has more than ${MAX_COMMENT} characters`];
  return [];
}

/** Two columns of names and texts; texts are wrapped. */
function linesOf(entries: readonly Entry[]): string[] {
  const heads = entries.map(({ depth, name }) => `${'  '.repeat(depth)}${name}  `);
  const column = Math.max(NAME_COLUMNS, ...heads.filter((head) => !isSource(head)).map((head) => head.length));
  return entries.flatMap(({ text }, index) => {
    const head = (heads[index] ?? '').padEnd(column);
    const [first, ...more] = wrap(text, MAX_COLUMNS - head.length, MAX_COLUMNS - column);
    return [`${head}${first}`.trimEnd(), ...more.map((line) => `${' '.repeat(column)}${line}`)];
  });
}

function wrap(text: string, firstColumns: number, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const room = lines.length === 1 ? firstColumns : columns;
    if (last !== '' && last.length + 1 + word.length > room) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function main(words: readonly string[]): void {
  const tree = new Map(
    sourceFiles().map((file) => [file, isSource(file) ? readFileSync(join(ROOT, file), 'utf8') : '']),
  );
  const { text, complaints } = makeLayout(tree, DIRECTORIES);
  if (words.includes('--print')) console.log(text);
  for (const line of complaints) console.error(line);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
