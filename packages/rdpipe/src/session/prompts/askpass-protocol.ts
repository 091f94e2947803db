/** The messages between the askpass program and rdpipe: one line of JSON in each direction. */

export interface AskpassQuestion {
  /** Identifies the connection that asks: a secret known to its ssh. */
  readonly id: string;
  readonly text: string;
  /** SSH_ASKPASS_PROMPT: empty, `confirm` or `none`. */
  readonly hint: string;
}

export const LONGEST_LINE_BYTES = 64 * 1024;

/** Returns the line that askpass sends. */
export function encodeQuestion(question: AskpassQuestion): string {
  return `${JSON.stringify(question)}\n`;
}

/** Returns undefined if the line is not a valid question. */
export function decodeQuestion(line: string): AskpassQuestion | undefined {
  const { id, text, hint } = parseObject(line);
  if (typeof id !== 'string' || typeof text !== 'string' || typeof hint !== 'string') return undefined;
  return { id, text, hint };
}

/** Returns the line with the user's answer. */
export function encodeAnswer(answer: string): string {
  return `${JSON.stringify({ answer })}\n`;
}

/** Returns undefined if the line is not a valid answer. */
export function decodeAnswer(line: string): string | undefined {
  const { answer } = parseObject(line);
  return typeof answer === 'string' ? answer : undefined;
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
