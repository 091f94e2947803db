/** Reads the value of a flag, with its host, and adds it to the option's earlier values. */
import { UsageError } from '../model/errors.ts';
import { COMMAND } from '../model/launcher.ts';
import { flagName, type OptionRow, type PatternRule, takesValue, valueText } from '../model/option-row.ts';
import type { HostValue } from '../model/settings.ts';
import { decode, forMessage } from './binary-string.ts';
import { hostKeyOf } from './host-ref.ts';
import { readValue } from './values.ts';

/**
 * The option's value `before`, with this flag's added. `text` is a binary string, and ignored for a switch.
 * @throws UsageError that names the option.
 */
export function readFlag(row: OptionRow, text: string, before: unknown): unknown {
  if (!takesValue(row)) return row.kind === 'count' ? Math.min(2, Number(before ?? 0) + 1) : true;
  if (row.kind === 'exclude' || row.kind === 'include') return [...listed(before), readPattern(row, row.kind, text)];
  const decoded = decode(text);
  if (decoded === undefined) throw new UsageError(`${flagName(row)}: '${forMessage(text)}' is not valid UTF-8`);
  try {
    const isPerHost = row.config === 'host' || row.config === 'both';
    const value = isPerHost ? readHostValue(row, decoded) : readValue(row, decoded);
    return isPerHost || row.repeats === true ? [...listed(before), value] : value;
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${flagName(row)}: ${error.message}`) : error;
  }
}

function listed(before: unknown): readonly unknown[] {
  return (before as readonly unknown[] | undefined) ?? [];
}

/** Patterns stay bytes, because file names need not be UTF-8. */
function readPattern(row: OptionRow, kind: 'exclude' | 'include', pattern: string): PatternRule {
  if (pattern === '') throw new UsageError(`${flagName(row)}: the pattern is empty`);
  return { kind, pattern };
}

/** `HOST=VALUE`, or `HOST` for a switch; if the host is optional, an empty one is this machine. */
function readHostValue(row: OptionRow, text: string): HostValue<unknown> {
  const { kind, flagHost, withoutHost } = row;
  if (flagHost === undefined) return { host: undefined, value: readValue(row, text) };
  if (kind === 'switch') return { host: hostKeyOf(text), value: true };
  // A template may contain `=`, and no host begins with its prefix.
  const equals = kind === 'launcher' && text.startsWith(COMMAND) ? -1 : text.indexOf('=');
  const host = text.slice(0, Math.max(equals, 0));
  const value = text.slice(equals + 1);
  if (flagHost === 'optional' && equals <= 0)
    return { host: equals < 0 ? undefined : host, value: readValue(row, value) };
  if (equals < 0) throw new UsageError(`'${text}' is not ${valueText(row)}`);
  if (host === '') throw new UsageError(`'${text}' names no host (${withoutHost})`);
  return { host: hostKeyOf(host), value: readValue(row, value) };
}
