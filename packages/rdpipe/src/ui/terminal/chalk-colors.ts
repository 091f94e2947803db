/** Colours for a terminal. chalk opens process.stdout while it is loaded: only after `protectPayload`. */
import { Chalk } from 'chalk';
import type { Colors } from './colors.ts';

export function chalkColors(): Colors {
  const chalk = new Chalk({ level: 1 });
  return { speaker: chalk.cyan, failure: chalk.red };
}
