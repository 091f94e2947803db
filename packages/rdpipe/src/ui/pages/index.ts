/** Everything that draws: a file of its own in the bundle, loaded when a page is written. */
export { benchPage } from './bench.ts';
export { type RunPageInput, runPage } from './run.ts';
