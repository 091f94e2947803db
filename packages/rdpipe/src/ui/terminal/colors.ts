/** The few colours there are. */
export interface Colors {
  /** Who speaks: the name before a line of rdpipe or of a stage. */
  readonly speaker: (text: string) => string;
  readonly failure: (text: string) => string;
}

export const NO_COLORS: Colors = { speaker: (text) => text, failure: (text) => text };
