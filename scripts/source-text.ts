// SPDX-License-Identifier: Apache-2.0
/** Extracts the strings and the comments of a source file, at their lines and columns. */
import { parseSync, Visitor } from 'oxc-parser';

/** All other characters, except white space, are replaced by NUL. */
export interface SourceText {
  readonly strings: string;
  readonly comments: string;
}

type Range = readonly [begin: number, end: number];

const C_TOKEN = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\/.*|\/\*[\s\S]*?\*\//g;
const SHELL_COMMENT = /^[ \t]*#.*/gm;

export function sourceText(file: string, text: string): SourceText {
  const { strings, comments } = rangesOf(file, text);
  return { strings: only(strings, text).replace(/\\[nrt]/g, '  '), comments: only(comments, text) };
}

function rangesOf(file: string, text: string): { strings: readonly Range[]; comments: readonly Range[] } {
  if (/\.[cm]?[jt]s$/.test(file)) return scriptRanges(text);
  if (/\.[ch]$/.test(file)) {
    const tokens = matches(C_TOKEN, text);
    return {
      strings: tokens.filter(([begin]) => text[begin] === '"'),
      comments: tokens.filter(([begin]) => text[begin] === '/'),
    };
  }
  const comments = matches(SHELL_COMMENT, text);
  return { strings: matches(/[^\0]+/g, without(comments, text)), comments };
}

/** The string literals and parts of templates of TypeScript, with their delimiters, and its comments. */
function scriptRanges(text: string): { strings: readonly Range[]; comments: readonly Range[] } {
  const { program, comments } = parseSync('file.ts', text);
  const strings: Range[] = [];
  const add = ({ start, end }: { readonly start: number; readonly end: number }) => strings.push([start, end]);
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') add(node);
    },
    TemplateElement: add,
  }).visit(program);
  return {
    strings: strings.sort(([one], [other]) => one - other),
    comments: comments.map(({ start, end }) => [start, end]),
  };
}

function matches(pattern: RegExp, text: string): Range[] {
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

function only(ranges: readonly Range[], text: string): string {
  return pieces(ranges, text, erased, (part) => part);
}

function without(ranges: readonly Range[], text: string): string {
  return pieces(ranges, text, (part) => part, erased);
}

/** Applies `within` to the ranges, which are sorted, and `between` to the text between them. */
function pieces(
  ranges: readonly Range[],
  text: string,
  between: (part: string) => string,
  within: (part: string) => string,
): string {
  const ends = [0, ...ranges.map(([, end]) => end)];
  const parts = ranges.map(
    ([begin, end], index) => between(text.slice(ends[index], begin)) + within(text.slice(begin, end)),
  );
  return parts.join('') + between(text.slice(ends.at(-1)));
}

function erased(text: string): string {
  return text.replace(/\S/g, '\0');
}
