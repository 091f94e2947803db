// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the imports and includes of each directory, and that there are no import cycles.
 * A module is a file without its extension; a .c file and its header are one module.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { ROOT, sourceFiles } from './source-files.ts';

/**
 * For each package's src: directory → directories that it may import besides itself; `*`: all.
 * `.` means files directly in src: every directory may import them, and a package without that row has none.
 */
const DIRECTORIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rdpipe: {
    model: '',
    parse: 'model',
    config: 'parse model',
    plan: 'model',
    session: 'model',
    agent: 'session model',
    copy: 'model',
    run: 'plan session agent model',
    doctor: 'run plan session agent model',
    bench: 'run plan session agent model',
    ui: 'model',
    cli: '*',
  },
  'rdbase-native': { base: '', sandbox: 'base', ring: 'base' },
  'rdendpoint-native': {
    wire: '',
    crypto: 'wire',
    transport: 'wire',
    'transport/tcp': 'wire transport',
    'transport/verbs': 'wire transport',
    codec: 'wire crypto transport',
    conn: 'wire crypto transport transport/tcp transport/verbs codec',
    hop: 'wire crypto transport codec conn',
    agent: 'crypto transport/tcp hop',
    cli: '*',
  },
  'rdsend-native': { '.': '*', source: '' },
  'rdrecv-native': { '.': '*', sink: '' },
  'rdserve-native': { serve: '' },
  'rdforward-native': { forward: '' },
  'rdgather-native': { gather: '' },
  'rdssh-native': { ssh: '' },
  'rdhop-native': { '.': '*' },
  'rdstage-native': {
    '.': '*',
    runtime: '',
    process: 'runtime',
    host: 'runtime process',
    protocol: 'runtime process host',
    run: 'runtime process host protocol',
  },
  'rdtree-native': {
    '.': '*',
    stream: '',
    setup: '',
    threads: '',
    report: 'stream setup',
    pattern: 'stream setup report entry',
    entry: 'stream setup report',
    scan: 'stream setup threads report pattern entry',
    compare: 'stream setup report pattern entry',
    read: 'stream setup threads report pattern entry',
    target: 'stream setup report pattern entry',
    write: 'stream setup report pattern entry target',
    clean: 'stream setup report pattern entry',
    unite: 'stream setup',
    send: 'setup scan read',
  },
};

/** Libraries, and the modules that may use them. TypeScript may use no others; C may also use the system's. */
const LIBRARIES: readonly (readonly [library: RegExp, users: RegExp])[] = [
  [/^ssh2$/, /^rdpipe\/session\//],
  [/^execa$/, /^rdpipe\/session\/start-program$/],
  [/^node:child_process$/, /^(?!rdpipe\/)/],
  [/^node:/, /^rdpipe\/(?!model\/)/],
  [/^(ora|chalk)$/, /^rdpipe\/ui\//],
  [/^echarts\//, /^rdpipe\/ui\/(\w+\/)?chart$/],
  [/^\.\.\/\.\.\/package\.json$/, /^rdpipe\/model\/version$/],
  [/^commander$/, /^rdpipe\/parse\/argv$/],
  [/^smol-toml$/, /^rdpipe\/config\/file$/],
  [/^valibot$/, /^rdpipe\/(config\/file|model\/(protocol|tree|front-protocol)|agent\/decode)$/],
  [
    /^openssl\//,
    /^rdendpoint-native\/(crypto\/(handshake|key_derivation|openssl_version|seal|signature|stream_check|tls)|cli\/library_versions)$|^rdserve-native\/serve\/tls_service$|^rdstage-native\/host\/program_sums$/,
  ],
  [/^xxhash\.h$/, /^rdbase-native\/base\/digest(_avx2)?$|^rdendpoint-native\/cli\/library_versions$/],
  [/^zstd\.h$/, /^rdendpoint-native\/(codec\/block|cli\/library_versions)$/],
  [/^(infiniband|rdma)\//, /^rdendpoint-native\/transport\/verbs\//],
];

/** The C packages, with those that each may use, from the rows that the build uses also. */
const USES = usesOf(readFileSync(join(ROOT, 'Makefile'), 'utf8'));
const SOURCE = /^packages\/([^/]+)\/src\/(.*)\.(ts|cjs|c|h)$/;

interface Import {
  readonly file: string;
  readonly module: string;
  /** The import as written. */
  readonly words: string;
  /** The imported module; absent for a library, and for a header that does not exist. */
  readonly target?: string;
  readonly library: boolean;
}

/** Complaints about imports in `sources`, a map from path below the root to text; empty: none. */
export function checkImports(sources: ReadonlyMap<string, string>): string[] {
  const modules = new Set([...sources.keys()].map(moduleOf));
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text, modules));
  return [
    ...new Set([...[...modules].flatMap(placeComplaints), ...imports.flatMap(importComplaints), ...circles(imports)]),
  ];
}

function moduleOf(file: string): string {
  const [, directory = '', path = ''] = SOURCE.exec(file) ?? [];
  return `${directory}/${path}`;
}

function importsOf(file: string, text: string, modules: ReadonlySet<string>): Import[] {
  const module = moduleOf(file);
  if (!/\.[ch]$/.test(file))
    return importedBy(text).map((words) => {
      const library = !words.startsWith('.') || words.endsWith('.json');
      return { file, module, words, library, ...(library ? {} : { target: sibling(module, words) }) };
    });
  return [...text.matchAll(/^\s*#\s*include ([<"])(.*)[>"]/gm)].map(([, mark, words = '']) => {
    const target = mark === '"' ? findHeader(module, words, modules) : undefined;
    return { file, module, words, library: mark === '<', ...(target === undefined ? {} : { target }) };
  });
}

/** The sources of all imports and exports of a script, also those of types and those at run time. */
function importedBy(text: string): string[] {
  const found: string[] = [];
  const add = ({ source }: { readonly source: unknown }): void => {
    if (isLiteral(source)) found.push(source.value);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
    CallExpression: ({ callee, arguments: [source] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require') add({ source });
    },
  }).visit(parseSync('file.ts', text).program);
  return found;
}

function isLiteral(node: unknown): node is { readonly value: string } {
  return typeof node === 'object' && node !== null && 'value' in node && typeof node.value === 'string';
}

function sibling(module: string, words: string): string {
  return normalize(join(dirname(module), withoutExtension(words)));
}

function withoutExtension(path: string): string {
  return path.replace(/\.\w+$/, '');
}

/** Searches like the compiler: next to the module, then below src of its package and of the packages it may use. */
function findHeader(module: string, words: string, modules: ReadonlySet<string>): string | undefined {
  const own = packageOf(module);
  const packages = [own, ...(USES.get(own) ?? [])];
  const places = [sibling(module, words), ...packages.map((directory) => `${directory}/${withoutExtension(words)}`)];
  return places.find((place) => modules.has(place));
}

function usesOf(makefile: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...makefile.matchAll(/^USES_(\w+) :=(.*)$/gm)];
  return new Map(
    rows.map(([, name, used = '']) => [`${name}-native`, (used.match(/\w+/g) ?? []).map((one) => `${one}-native`)]),
  );
}

function packageOf(module: string): string {
  return module.split('/')[0] ?? '';
}

/** The longest directory in DIRECTORIES that contains the module. */
function directoryOf(module: string): string | undefined {
  const path = dirname(module).split('/').slice(1);
  const rows = DIRECTORIES[packageOf(module)] ?? {};
  const above = path.map((_, index) => path.slice(0, path.length - index).join('/'));
  return (path.length === 0 ? ['.'] : above).find((directory) => directory in rows);
}

function placeComplaints(module: string): string[] {
  const directory = dirname(module);
  return directoryOf(module) === undefined ? [`${directory}: no row in DIRECTORIES of scripts/check-imports.ts`] : [];
}

function importComplaints({ file, module, words, target, library }: Import): string[] {
  if (library) return mayUse(module, words) ? [] : [`${file} imports ${words}, which is for other modules`];
  if (target === undefined) return [`${file} includes ${words}, which is nowhere`];
  const from = directoryOf(module);
  if (from === undefined || mayImport(module, from, target)) return [];
  return [`${file} imports ${words}: ${from} may import ${DIRECTORIES[packageOf(module)]?.[from] || 'nothing'}`];
}

function mayUse(module: string, library: string): boolean {
  const rows = LIBRARIES.filter(([name]) => name.test(library));
  return rows.every(([, users]) => users.test(module)) && (rows.length > 0 || packageOf(module) !== 'rdpipe');
}

/** Within a package its rows decide, between packages those of the Makefile. */
function mayImport(module: string, from: string, target: string): boolean {
  const [own, other] = [packageOf(module), packageOf(target)];
  if (own !== other) return USES.get(own)?.includes(other) ?? false;
  const allowed = DIRECTORIES[own]?.[from]?.split(' ') ?? [];
  const to = directoryOf(target);
  return to === undefined || to === from || to === '.' || allowed.includes('*') || allowed.includes(to);
}

/** Depth-first search; a module that is already on the current path closes a cycle. */
function circles(imports: readonly Import[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { module, target = module } of imports) next.set(module, (next.get(module) ?? new Set()).add(target));
  const done = new Set<string>();
  const found: string[][] = [];
  const visit = (module: string, way: readonly string[]): void => {
    if (way.includes(module)) found.push([...way.slice(way.indexOf(module)), module]);
    if (way.includes(module) || done.has(module)) return;
    for (const target of next.get(module) ?? []) if (target !== module) visit(target, [...way, module]);
    done.add(module);
  };
  for (const module of next.keys()) visit(module, []);
  return found.map((circle) => `imports go in a circle: ${circle.join(' → ')}`);
}

function main(): void {
  const files = sourceFiles().filter((file) => SOURCE.test(file));
  const complaints = checkImports(new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])));
  for (const line of complaints) console.error(line);
  process.exitCode = complaints.length > 0 || files.length === 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) main();
