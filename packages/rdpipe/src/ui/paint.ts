/** The few colours there are. */
import { Chalk } from 'chalk';

export interface Paint {
  /** Who speaks: the name before a line of rdpipe or of a stage. */
  readonly speaker: (text: string) => string;
  readonly failure: (text: string) => string;
}

export function createPaint(color: boolean): Paint {
  const chalk = new Chalk({ level: color ? 1 : 0 });
  return { speaker: chalk.cyan, failure: chalk.red };
}

export const NO_PAINT: Paint = { speaker: (text) => text, failure: (text) => text };
