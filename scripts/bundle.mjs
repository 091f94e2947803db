// SPDX-License-Identifier: Apache-2.0
// Bundles the TypeScript into build/rdpipe: `node scripts/bundle.mjs [NODE...]`.
// rdpipe.cjs runs program.cjs with its compiled code in program-CPU-V8.cache, for this node and each NODE;
// code that few runs need is in separate files; rdpipe-askpass.mjs answers ssh's questions;
// node-path tells bin/rdpipe the path of node if it is not in PATH, only on this machine;
// packages.json lists the bundled npm packages.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { execaSync } from 'execa';
import { bundledPackages } from './bundled-packages.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'packages/rdpipe/src');
const target = join(root, 'build/rdpipe');
const directory = join(root, 'packages/rdpipe');

/**
 * Loaded only when imported: a package, and modules that share no classes with the rest. Packages of ES modules are
 * bundled with their importer: in a separate file they would be imported as CommonJS, without a default export.
 */
const SEPARATE_PACKAGES = ['ssh2'];
const SEPARATE_MODULES = { pages: join(source, 'ui/pages/index.ts'), live: join(source, 'ui/terminal/live.ts') };

/**
 * `import process from 'node:process'` opens process.stdin and process.stdout before rdpipe's code runs, which sets
 * O_NONBLOCK on descriptors that carry the user's data. The global does not.
 */
const globalProcess = {
  name: 'global-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?process$/ }, () => ({ path: 'process', namespace: 'global-process' }));
    onLoad({ filter: /.*/, namespace: 'global-process' }, () => ({ contents: 'module.exports = globalThis.process;' }));
  },
};

const separate = {
  name: 'separate',
  setup({ onResolve }) {
    const elsewhere = (name) => ({ path: `./${name}.cjs`, external: true });
    onResolve({ filter: /^[\w-]+$/ }, ({ path, kind }) =>
      kind !== 'entry-point' && SEPARATE_PACKAGES.includes(path) ? elsewhere(path) : undefined,
    );
    onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) => {
      const found = Object.entries(SEPARATE_MODULES).find(([, file]) => join(resolveDir, path) === file);
      return kind !== 'entry-point' && found !== undefined ? elsewhere(found[0]) : undefined;
    });
  },
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node18.19',
  // Names are kept for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  // Optional compiled parts of ssh2, which are not installed.
  external: ['cpu-features', '*.node'],
  legalComments: 'eof',
  logLevel: 'warning',
};

/** Modules of execa that start-program.ts does not use; without them a run starts faster. */
const UNUSED_IN_EXECA = [
  './main-sync.js',
  // Messages for a terminal.
  ...['./default.js', 'figures', 'yoctocolors', 'pretty-ms'],
  // Ending programs at exit; streams instead of pipes; messages of node; npm programs; Windows.
  ...['signal-exit', '@sindresorhus/merge-streams', 'node:v8', 'npm-run-path', 'which', 'shebang-command'],
  'human-signals',
];

const nothing = {
  name: 'nothing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path }) =>
      UNUSED_IN_EXECA.includes(path) ? { path: 'nothing', namespace: 'nothing' } : undefined,
    );
    // Descriptions of signals are used only in a message that is not shown.
    const contents = 'module.exports = { signalsByName: new Proxy({}, { get: () => ({}) }) };';
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents }));
  },
};

/** The packages in execaAlone's module. */
let packagesOfExeca = {};

/** Bundles all that `execa()` needs into one module: in the program, every module would be a separate function. */
const execaAlone = {
  name: 'execa-alone',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^execa$/ }, () => ({ path: 'execa', namespace: 'execa-alone' }));
    onLoad({ filter: /.*/, namespace: 'execa-alone' }, async () => {
      const create = join(directory, 'node_modules/execa/lib/methods/create.js');
      const contents = `import { createExeca } from ${JSON.stringify(create)}; export const execa = createExeca(() => ({}));`;
      const plugins = [globalProcess, nothing];
      const stdin = { contents, resolveDir: source };
      const options = { ...common, stdin, minify: true, format: 'esm', plugins, absWorkingDir: directory };
      const { outputFiles, metafile } = await build({ ...options, metafile: true, write: false });
      packagesOfExeca = bundledPackages(metafile, directory);
      return { contents: outputFiles[0].text, resolveDir: source };
    });
  },
};

mkdirSync(target, { recursive: true });
for (const file of readdirSync(target, { withFileTypes: true })) if (file.isFile()) rmSync(join(target, file.name));
const { metafile } = await build({
  ...common,
  entryPoints: {
    program: join(source, 'cli/main.ts'),
    ...Object.fromEntries(SEPARATE_PACKAGES.map((name) => [name, name])),
    ...SEPARATE_MODULES,
  },
  absWorkingDir: directory,
  metafile: true,
  outdir: target,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  // import() of a file in the same directory becomes require().
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__fileUrl' },
  banner: { js: "const __fileUrl = require('node:url').pathToFileURL(__filename).href;" },
  plugins: [globalProcess, separate, execaAlone],
});
await build({
  ...common,
  entryPoints: { rdpipe: join(source, 'cli/boot.cjs') },
  outdir: target,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  target: 'node12',
});
await build({
  ...common,
  entryPoints: { 'rdpipe-askpass': join(source, 'cli/askpass.ts') },
  outdir: target,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
});
const packages = Object.entries({ ...packagesOfExeca, ...bundledPackages(metafile, directory) });
writeFileSync(join(target, 'packages.json'), `${JSON.stringify(Object.fromEntries(packages.sort()))}\n`);
writeFileSync(join(target, 'node-path'), `${process.execPath}\n`);
// Fixed seeds give the same bytes each time. The program also runs without this code, but more slowly.
const compile = ['--hash-seed=1', '--random-seed=1', join(root, 'scripts/compile-program.cjs')];
for (const node of [process.execPath, ...process.argv.slice(2)])
  execaSync(node, compile, { stdio: 'inherit', env: { NODE_OPTIONS: '' }, reject: false });
