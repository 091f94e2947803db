// SPDX-License-Identifier: Apache-2.0
// Bundles the TypeScript into build/rdpipe: rdpipe.mjs, for ssh's questions rdpipe-askpass.mjs, for pages with plots
// rdpipe-pages.mjs.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'packages/rdpipe/src');
const target = join(root, 'build/rdpipe');

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

/** What draws is a file of its own: it is large and seldom needed, and would be read at each start. */
const pages = {
  name: 'pages',
  setup({ onResolve }) {
    onResolve({ filter: /\/ui\/pages\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './rdpipe-pages.mjs', external: true } : undefined,
    );
  },
};

await build({
  entryPoints: {
    rdpipe: join(source, 'cli/main.ts'),
    'rdpipe-askpass': join(source, 'cli/askpass.ts'),
    'rdpipe-pages': join(source, 'ui/pages.ts'),
  },
  outdir: target,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // Optional compiled speed-ups of ssh2, which are not installed.
  external: ['cpu-features', '*.node'],
  // What of the bundle is CommonJS expects these.
  banner: {
    js: [
      "import { createRequire } from 'node:module';",
      'const require = createRequire(import.meta.url);',
      'const __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  legalComments: 'eof',
  plugins: [globalProcess, pages],
  logLevel: 'warning',
});
