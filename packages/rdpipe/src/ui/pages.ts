/** Everything that draws: a file of its own in the bundle, loaded when a page is written. */
export { benchPage } from './bench-page.ts';
export { type RunPageInput, runPage } from './run-page.ts';
