/** The entry of pages.cjs: all code that draws pages, loaded only to write one. */
export { benchPage } from './bench.ts';
export { type RunPageInput, runPage } from './run.ts';
