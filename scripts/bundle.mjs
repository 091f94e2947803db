// SPDX-License-Identifier: Apache-2.0
// Bundles the TypeScript into build/rdpipe: `node scripts/bundle.mjs [NODE...]`.
// rdpipe.cjs runs program.cjs by its compiled code in program-CPU-V8.cache, made for this node and those named;
// what few runs need is in files of its own; rdpipe-askpass.mjs answers ssh's questions;
// node-path names node for bin/rdpipe when it is not in PATH, and is for this machine alone;
// packages.json has the packages of npm that are in it.
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
 * Read when they are imported: a package, and modules that share no class with the others. An ES module of a package
 * is bundled with its importer: as a file of its own it would be imported as CommonJS, without its default.
 */
const SEPARATE_PACKAGES = ['ssh2'];
const SEPARATE_MODULES = { pages: join(source, 'ui/pages/index.ts'), live: join(source, 'ui/terminal/live.ts') };

/**
 * `import process from 'node:process'` opens process.stdin and process.stdout before any code of ours runs, and so sets
 * O_NONBLOCK on descriptors that carry the user's data. The global has no such habit.
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
  // Names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  // Optional compiled speed-ups of ssh2, which are not installed.
  external: ['cpu-features', '*.node'],
  legalComments: 'eof',
  logLevel: 'warning',
};

/** Of execa what start-program.ts never comes to; without it a run starts sooner. */
const UNUSED_IN_EXECA = [
  './main-sync.js',
  // Messages on the terminal.
  ...['./default.js', 'figures', 'yoctocolors', 'pretty-ms'],
  // To end a program when we end; streams in place of pipes; node's messages; programs of npm; Windows.
  ...['signal-exit', '@sindresorhus/merge-streams', 'node:v8', 'npm-run-path', 'which', 'shebang-command'],
  'human-signals',
];

const nothing = {
  name: 'nothing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path }) =>
      UNUSED_IN_EXECA.includes(path) ? { path: 'nothing', namespace: 'nothing' } : undefined,
    );
    // Descriptions of signals are for a message that goes nowhere.
    const contents = 'module.exports = { signalsByName: new Proxy({}, { get: () => ({}) }) };';
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents }));
  },
};

/** Of what execaAlone makes. */
let packagesOfExeca = {};

/** One module of all that `execa()` alone needs: in the program each module is a function of its own. */
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
  // import() of a file beside this one is require().
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
// Seeds that are chosen make the bytes the same each time. Without this code the program runs too, more slowly.
const compile = ['--hash-seed=1', '--random-seed=1', join(root, 'scripts/compile-program.cjs')];
for (const node of [process.execPath, ...process.argv.slice(2)])
  execaSync(node, compile, { stdio: 'inherit', env: { NODE_OPTIONS: '' }, reject: false });
