/** Quotes words as a shell user would type them, for messages and reports. */
import { forMessage } from './binary-string.ts';
import { endOfHost } from './host-ref.ts';

/** A word on one line, in quotes if a shell needs them; in a stage only the command is quoted. */
export function quoteWord(word: string): string {
  const colon = endOfHost(word);
  const host = word.slice(0, colon + 1);
  return colon >= 0 && BARE.test(host) && host.length < word.length ? host + quote(word.slice(colon + 1)) : quote(word);
}

const BARE = /^[A-Za-z0-9_@%+=:,./[\]-]+$/;
/** Control characters; bytes above ASCII are checked after decoding. */
const UNPRINTABLE = /[^ -~\x80-\xff]/;

function quote(text: string): string {
  if (BARE.test(text)) return text;
  const shown = forMessage(text);
  if (UNPRINTABLE.test(text) || shown.includes('\ufffd')) return `$'${escapeBytes(text)}'`;
  return text.includes("'") && !/["$`\\!]/.test(text) ? `"${shown}"` : `'${shown.replaceAll("'", `'\\''`)}'`;
}

/** Text for `$'…'`: all characters except printable ASCII become escapes. */
function escapeBytes(text: string): string {
  return text.replace(/[^\x20-\x7e]|['\\]/g, (character) => NAMED[character] ?? hexEscape(character));
}

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', "'": "\\'", '\\': '\\\\' };

function hexEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
