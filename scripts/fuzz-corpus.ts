// SPDX-License-Identifier: Apache-2.0
// Reads and writes the kept inputs of a fuzz target, a text file: one per line, NAME:INPUT; most names are empty.
// Printable ASCII except backslash is unchanged; \\, \n and \xNN are one byte each.
// packages/rdbase-native/fuzz/replay.c also reads it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Input {
  readonly name: string;
  readonly text: string;
}

/** The inputs of a file; empty if it does not exist. */
export function readCorpus(file: string): Input[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'latin1').split('\n').slice(0, -1);
  return lines.map((line) => {
    const end = line.indexOf(':');
    return { name: line.slice(0, end), text: line.slice(end + 1) };
  });
}

/** Writes the inputs, sorted and without duplicates. */
export function writeCorpus(file: string, inputs: readonly Input[]): void {
  const lines = new Set(inputs.map(({ name, text }) => `${name}:${text}\n`));
  writeFileSync(file, [...lines].sort().join(''));
}

/** Empties the directory and writes each input to a file. */
export function unpack(inputs: readonly Input[], directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [index, { text }] of inputs.entries()) writeFileSync(join(directory, `${index}`), bytesOf(text));
}

/** The files of a directory as inputs; an input that is in `known` keeps its name. */
export function pack(directory: string, known: readonly Input[] = []): Input[] {
  const names = new Map(known.map(({ name, text }) => [text, name]));
  return readdirSync(directory).map((file) => {
    const text = textOf(readFileSync(join(directory, file)));
    return { name: names.get(text) ?? '', text };
  });
}

/** The escaped text of an input. A space at its end is escaped, because editors remove it. */
export function textOf(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^ -~]|\\| $/g, (one) => {
    if (one === '\\') return '\\\\';
    return one === '\n' ? '\\n' : `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

function bytesOf(text: string): Buffer {
  const latin1 = text.replace(/\\(?:x(..)|(.))/g, (_, hex?: string, one?: string) =>
    hex === undefined ? (one === 'n' ? '\n' : (one ?? '')) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin1, 'latin1');
}
