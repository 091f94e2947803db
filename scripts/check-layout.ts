// SPDX-License-Identifier: Apache-2.0
/**
 * Every directory of the tree has its row in DIRECTORIES, and every file its first line of comment.
 * `npm run layout` prints them.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { ROOT, sourceFiles } from './source-files.ts';

/** In the order of the layout. Below src/ every directory has a row, elsewhere every part of the project. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  'packages/rdpipe/src': 'The control plane: everything that rdpipe does on the machine of its user',
  'packages/rdpipe/src/model':
    'Data that every directory knows: pipeline, plan, settings, protocol, events, report, errors',
  'packages/rdpipe/src/parse': 'The command line, in exact bytes: options, stages and hosts',
  'packages/rdpipe/src/config': 'Settings: flags over the configuration file over defaults',
  'packages/rdpipe/src/plan': 'Decisions before a run, pure: segments, links, routes over RDMA and TCP',
  'packages/rdpipe/src/copy':
    'rdcp: paths and options become a pipeline of programs that scan, compare, read and write',
  'packages/rdpipe/src/session':
    "Control connections to hosts: the system's ssh, the ssh2 library, this machine itself",
  'packages/rdpipe/src/session/openssh':
    "Sessions by the system's ssh: one master connection a host, channels as its clients",
  'packages/rdpipe/src/session/ssh2': 'Sessions in this process by the ssh2 library, under the configuration of ssh',
  'packages/rdpipe/src/session/launcher':
    'Sessions by other programs than ssh: podman, docker, kubectl, lxc, templates',
  'packages/rdpipe/src/session/launcher/slurm': 'Sessions to the nodes of a Slurm job, over one step for all of them',
  'packages/rdpipe/src/session/prompts': 'Questions of ssh to the user: passwords, codes, host keys',
  'packages/rdpipe/src/agent':
    'The native programs: where they are, how they reach a host, and the conversation with an agent',
  'packages/rdpipe/src/run': 'A run: prepare, connect, start, collect events, find the first cause, tear down',
  'packages/rdpipe/src/doctor': 'rdpipe doctor: facts of hosts become findings by pure checks',
  'packages/rdpipe/src/bench': 'rdpipe bench: methods of moving data between two hosts, each stream an ordinary run',
  'packages/rdpipe/src/ui': 'Output for people and programs: live rows, lines, summary, JSON, pages with plots',
  'packages/rdpipe/src/ui/terminal': 'Output on a terminal: live rows, progress, colors',
  'packages/rdpipe/src/ui/pages': 'Pages in HTML: tables, and plots as SVG text',
  'packages/rdpipe/src/cli': 'The entry points of rdpipe, its subcommands and rdcp',
  'packages/rdbase-native/src': 'The base of all of the C programs',
  'packages/rdbase-native/src/base':
    'Errors, bytes, text, input and output, digests, lines of JSON, facts of the machine',
  'packages/rdbase-native/src/sandbox': 'The rights that a program gives up before it takes data of others',
  'packages/rdendpoint-native/src': 'Parts of both ends of a hop, rdsend and rdrecv, which carry one stream of bytes',
  'packages/rdendpoint-native/src/wire':
    'The wire protocol: the one decoder of the bytes of a peer, its windows and slots',
  'packages/rdendpoint-native/src/crypto': 'Handshake, seals, signatures and keys',
  'packages/rdendpoint-native/src/transport':
    'The seam to the network: whole messages in order, and what every backend needs',
  'packages/rdendpoint-native/src/transport/tcp': 'Messages over TCP connections',
  'packages/rdendpoint-native/src/transport/verbs': 'Messages over RDMA connections',
  'packages/rdendpoint-native/src/codec':
    'DATA frames: compressed and sealed, opened and decompressed, by a pool of threads',
  'packages/rdendpoint-native/src/conn':
    'A connection between two ends: dialing, listening, authentication, credit, keepalive',
  'packages/rdendpoint-native/src/ring':
    'Rings of bytes between two threads, or between the receiver and the sender of a host in a chain',
  'packages/rdendpoint-native/src/hop': 'The loop of an end: its connection, its counters, its limits of time',
  'packages/rdendpoint-native/src/agent': 'The channel between the agent and the programs of a hop',
  'packages/rdendpoint-native/src/cli': 'The command line of rdsend and rdrecv, and how they run without an agent',
  'packages/rdsend-native/src': 'The sending end: from a source over a ring to the wire',
  'packages/rdsend-native/src/source': 'Sources: pipes, files, the limit of the rate',
  'packages/rdrecv-native/src': 'The receiving end: from the wire over a writer to a sink',
  'packages/rdrecv-native/src/sink': 'Sinks: pipes, and files that appear when they are whole',
  'packages/rdserve-native/src': 'The serving receiver: a room of its own, as other packages have',
  'packages/rdserve-native/src/serve': 'rdrecv --serve: copies for clients that have a key and no ssh',
  'packages/rdforward-native/src': 'rdforward: a room of its own, as other packages have',
  'packages/rdforward-native/src/forward': 'Connections of -L and -R, many in one stream each way',
  'packages/rdgather-native/src': 'rdgather: a room of its own, as other packages have',
  'packages/rdgather-native/src/gather': 'The outputs of several hosts become one, line by line',
  'packages/rdssh-native/src': 'The front of rdssh: a room of its own, as other packages have',
  'packages/rdssh-native/src/ssh': "ssh's command line becomes one of rdpipe, or is left to ssh",
  'packages/rdhop-native/src': 'The program that has all of the above, by its name or its first word',
  'packages/rdstage-native/src': 'The agent: it starts and supervises the processes of a run on one host',
  'packages/rdstage-native/src/runtime': 'One thread that waits for descriptors and timers, lines in and out, JSON',
  'packages/rdstage-native/src/process': 'Starting, listing, limiting and ending processes',
  'packages/rdstage-native/src/host': 'Facts of the host: addresses, RDMA ports, where the programs are',
  'packages/rdstage-native/src/protocol': 'Requests of rdpipe, events to it, the hello, the command line',
  'packages/rdstage-native/src/run':
    'A run on this host: guardian, supervisor, segments, stages, links, ends of hops, shutdown',
  'packages/rdtree-native/src': 'A copy of files and trees: each program of it is one stage of a pipeline',
  'packages/rdtree-native/src/stream':
    'The tree format: the one encoder and decoder of records, their reader and writer',
  'packages/rdtree-native/src/setup': 'The settings of a stage',
  'packages/rdtree-native/src/pattern': 'Patterns that exclude parts of the source',
  'packages/rdtree-native/src/report': 'Events for rdpipe, or lines for people: progress, failures, paths',
  'packages/rdtree-native/src/entry':
    'Entries of a source or target: paths, open directories, metadata, attributes, owners',
  'packages/rdtree-native/src/scan': 'The source: its directories and metadata',
  'packages/rdtree-native/src/compare': 'The target: what it lacks, and what it has too much',
  'packages/rdtree-native/src/unite': 'The decisions of several targets as one stream',
  'packages/rdtree-native/src/read': 'The source: the contents of files',
  'packages/rdtree-native/src/target':
    'The target: its files, which appear when they are whole and on the disk, links, metadata',
  'packages/rdtree-native/src/write':
    'The target: contents and decisions as they come, and the order in which they are carried out',
  'packages/rdtree-native/src/clean': 'The source: files that were moved',
  'packages/rdtree-native/src/send': 'The source, without a comparison: for rdsend',
  bin: 'Shims that run the built programs and build nothing; that of rdpipe lowers the limit of core files',
  contrib: 'Files for other programs: a unit of systemd, completion for shells',
  'contrib/completion':
    'Completion for bash, zsh and fish: its options are made by `npm run fix`, `complete.sh` finds hosts and paths',
  docs: 'Guides, the protocol, tests, benchmarks',
  'docs/adr': 'Decisions and their reasons',
  'docs/notes': 'Notes of the laboratory, with dates',
  'packages/rdpipe/man': 'Manual pages of rdpipe and its subcommands',
  'packages/rdpipe/test': 'Unit tests; the directories are those of src',
  'packages/rdbase-native/test': 'Suites in C of the base, and what all suites use',
  'packages/rdbase-native/fuzz': 'Fuzz targets of the base, what all targets use, and the replay of kept inputs',
  'packages/rdendpoint-native/test': 'Suites in C of what the ends share, and the peers that suites use',
  'packages/rdendpoint-native/fuzz': 'Fuzz targets of what the ends share, with stand-ins for network and ciphers',
  'packages/rdsend-native/man': 'Manual page of rdsend',
  'packages/rdsend-native/test': 'Suites in C of the sending end',
  'packages/rdsend-native/fuzz': 'The fuzz target of the sending end',
  'packages/rdrecv-native/man': 'Manual page of rdrecv',
  'packages/rdrecv-native/test': 'Suites in C of the receiving end',
  'packages/rdrecv-native/fuzz': 'The fuzz target of the receiving end',
  'packages/rdserve-native/test': 'Suites in C of the server',
  'packages/rdserve-native/fuzz': 'The fuzz target of the server',
  'packages/rdforward-native/test': 'Suites in C of rdforward',
  'packages/rdforward-native/fuzz': 'Fuzz targets of rdforward',
  'packages/rdgather-native/test': 'The suite in C of rdgather',
  'packages/rdgather-native/fuzz': 'The fuzz target of rdgather',
  'packages/rdssh-native/test': 'The suite in C of the front',
  'packages/rdhop-native/test': 'Suites in C of both ends together, and the faults between them',
  'packages/rdhop-native/fuzz': 'Fuzz targets of whole programs: rdsend and rdrecv',
  'packages/rdstage-native/man': 'Manual page of rdstage',
  'packages/rdstage-native/test': 'Suites in C of the agent',
  'packages/rdtree-native/fuzz': 'Fuzz targets of the programs of a copy, with their corpora',
  'packages/rdtree-native/test': 'Suites in C of the programs of a copy',
  'packages/rdtree-native/man': 'Manual page of rdtree',
  'packages/rdstage-native/fuzz': 'Fuzz targets of the agent, with their corpora',
  scripts: 'Set-up, bundle, tests, checks, coverage, fuzzing',
  'scripts/dist': 'The packages that npm run dist makes, each by a file of its own',
  'scripts/test': 'The parts of npm test: their forms, what a change affects, what a run leaves, its report',
  'scripts/setup': 'The steps of npm run build: system packages, pnpm, dependencies, builds; reasons of failures',
  test: 'Suites against the built programs',
  'test/hop': 'rdsend and rdrecv from outside',
  'test/agent': 'rdstage, driven over its standard input and output',
  'test/copy': 'rdtree from outside, one program of a copy at a time',
  'test/integration': 'bin/rdpipe as a user runs it, over real OpenSSH servers',
  'test/serve': 'rdrecv --serve: copies, strangers, hostile clients, signals',
  'test/tools': 'rdssh in the place of ssh, by itself and in programs of others',
  'test/terminal': 'The installed program in terminals of several sizes',
  'test/faults': 'Killed processes, broken networks, full disks, exhausted limits',
  'test/attacks': 'Hostile hosts, peers and strangers',
  'test/lab': 'RDMA between virtual hosts, and the hosts themselves',
  'test/full': 'Tests that take long: npm run test:full',
  'test/bench': 'npm run bench: rdpipe beside other tools',
  'test/toolchain': 'The build, its flags, and these checks',
  'test/support': 'Fixtures: hosts, networks, programs, browsers',
};

const MAX_COLUMNS = 120;
const NAME_COLUMNS = 26;
const MAX_COMMENT = 100;

/** Paths below the root of the checkout, and their texts. */
type Tree = ReadonlyMap<string, string>;

export interface Layout {
  /** A line or more for each directory and module, in order. */
  readonly text: string;
  /** Files without their line, directories without their row, rows without a directory. */
  readonly complaints: readonly string[];
}

interface Entry {
  readonly depth: number;
  readonly name: string;
  readonly text: string;
}

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

/** Directories that need a row because of a file: below src all of them, elsewhere the upper two. */
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

/** A directory, its modules, then the directories in it. */
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

/** The file that has a module's comment: the header of a .c file that has one. */
function modulesFile(file: string, tree: Tree): string {
  const header = file.replace(/\.c$/, '.h');
  return tree.has(header) ? header : file;
}

/** `ring` for ring.c and ring.h; a file that is alone has its extension. */
function moduleName(file: string, tree: Tree): string {
  const pair = extname(file) === '.h' && tree.has(file.replace(/h$/, 'c'));
  return basename(file, pair ? '.h' : '');
}

/** The first line of the comment with which a text begins, and whether it is a phrase of its own. */
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
    return [`${file}: its first line goes on in the next: make it a phrase of its own, with a period`];
  if (comment.text.length > MAX_COMMENT) return [`${file}: its first line has more than ${MAX_COMMENT} characters`];
  return [];
}

/** Names, and their texts in a column beside them, in as many lines as they take. */
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
