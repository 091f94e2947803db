/** The colours of text on a terminal. */
export interface Colors {
  /** The name before a line of rdpipe or of a stage. */
  readonly speaker: (text: string) => string;
  readonly failure: (text: string) => string;
}

export const NO_COLORS: Colors = { speaker: (text) => text, failure: (text) => text };

/** Call this only after `protectPayload`: chalk opens process.stdout when it is loaded. */
export async function createColors(color: boolean): Promise<Colors> {
  if (!color) return NO_COLORS;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return { speaker: chalk.cyan, failure: chalk.red };
}
