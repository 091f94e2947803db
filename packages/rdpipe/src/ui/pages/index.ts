/** The entry of pages.cjs: all code that draws, loaded when a page is written. */
export { benchPage } from './bench.ts';
export { type RunPageInput, runPage } from './run.ts';
