/** Reads the values of options, from flags and from the config file. */
import { UsageError } from '../model/errors.ts';
import type { OptionKind, OptionRow, OptionValues, StatusRule } from '../model/option-row.ts';
import { readRelay } from './host-ref.ts';
import { readLauncher } from './launcher.ts';

/**
 * Reads a value of an option that takes one.
 * @throws UsageError that describes a correct value, without the option's name.
 */
export function readValue(row: OptionRow, text: string): OptionValues[OptionKind] {
  if (!isRead(row.kind)) throw new Error(`${row.long} has no text to be read`);
  return READERS[row.kind](text, row);
}

/** Kinds with text to read: switches have none, and patterns stay bytes. */
type ValueKind = Exclude<OptionKind, 'switch' | 'count' | 'exclude' | 'include'>;

function isRead(kind: OptionKind): kind is ValueKind {
  return Object.hasOwn(READERS, kind);
}

const READERS: { readonly [Kind in ValueKind]: (text: string, row: OptionRow) => OptionValues[Kind] } = {
  choice: (text, { choices = [] }) => readChoice(choices, text),
  number: readNumber,
  numberOrAuto: readNumberOrAuto,
  size: readBoundedSize,
  rate: readRate,
  seconds: readBoundedSeconds,
  wholeSeconds: readWholeSeconds,
  compression: readCompression,
  ports: readPorts,
  address: readAddress,
  addresses: readAddresses,
  file: (text) => readPlain('file name', text),
  program: (text) => readPlain('path', text),
  remotePath: (text) => readPlain('path', text),
  shell: (text) => readPlain('shell', text),
  sshOption: (text) => readPlain('ssh option', text),
  launcher: (text) => readLauncher(readPlain('launcher', text)),
  relay: (text) => readRelay(readPlain('relay', text)),
  enough: readEnough,
  statuses: readStatusRule,
  excludeFrom: (text) => ({ kind: 'file', file: readPlain('file name', text) }),
};

function readNumber(text: string, row: OptionRow): number {
  const number = numberWithin(text, row);
  if (number !== undefined) return number;
  throw new UsageError(`'${text}' is not a number of ${row.of} (${row.least} to ${row.most})`);
}

function readNumberOrAuto(text: string, row: OptionRow): number {
  const number = text === 'auto' ? 0 : numberWithin(text, row);
  if (number !== undefined) return number;
  throw new UsageError(`'${text}' is neither auto nor a number of ${row.of} (${row.least} to ${row.most})`);
}

function numberWithin(text: string, { least, most }: OptionRow): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= Number(least) && number <= Number(most) ? number : undefined;
}

function readBoundedSize(text: string, { least, most }: OptionRow): number {
  const bytes = readSize(text);
  if ((least !== undefined && bytes < readSize(least)) || (most !== undefined && bytes > readSize(most)))
    throw new UsageError(`'${text}' is out of range (${least} to ${most})`);
  return bytes;
}

function readBoundedSeconds(text: string, { least }: OptionRow): number {
  const milliseconds = readSeconds(text);
  if (least !== undefined && milliseconds < readSeconds(least))
    throw new UsageError(`'${text}' is too short (at least ${least} seconds)`);
  return milliseconds;
}

/** Bytes: `4096`, `8M`, `1.5G`, `8MB` (powers of 1000), `8Mi`, `8MiB` (powers of 1024). */
function readSize(text: string): number {
  const bytes = readUnits(SIZE, text);
  if (bytes === undefined) throw new UsageError(`'${text}' is not a size (write 8M, 8MiB or a number of bytes)`);
  if (!Number.isSafeInteger(bytes)) throw new UsageError(`'${text}' is too large a size`);
  return bytes;
}

/** The same syntax as rdsend's and rdrecv's: rdbase-native/src/base/size_text.c. A lowercase b could mean bits. */
const SIZE = /^(\d+(?:\.\d+)?)(?: (?=.))?(?:([KMGTPkmgtp])(i?))?B?$/;
const RATE = /^(\d+(?:\.\d+)?)(?: (?=.))?(?:([KMGTPkmgtp])(i?))?(?:B|(bit))?(?:\/s)?$/;
const POWERS = 'KMGTP';

/** Whole bytes; undefined if the text does not match `units`. */
function readUnits(units: RegExp, text: string): number | undefined {
  const [match, number, letter = '', i, bit] = units.exec(text) ?? [];
  if (match === undefined) return undefined;
  const power = letter === '' ? 0 : POWERS.indexOf(letter.toUpperCase()) + 1;
  return Math.round((Number(number) * (i === 'i' ? 1024 : 1000) ** power) / (bit === undefined ? 1 : 8));
}

/** The least and the most of a number that a hop gets. */
export function boundsOf(row: OptionRow): readonly [number, number] {
  switch (row.kind) {
    case 'compression':
      return [0, LEVEL_MAX];
    case 'numberOrAuto':
      return [0, Number(row.most)];
    case 'rate':
      return [0, RATE_MAX_BYTES_PER_S];
    case 'seconds':
      return [readSeconds(row.least ?? '0.001'), 2 ** 31 - 1];
    default:
      return [Number(readValue(row, row.least ?? '')), Number(readValue(row, row.most ?? ''))];
  }
}

/** Higher levels of zstd need more memory at each end; the default is the fastest. */
const LEVEL_MAX = 19;
const LEVEL_DEFAULT = 1;

/** A level of zstd: `zstd`, `zstd:3`; 0 for `none`. */
function readCompression(text: string): number {
  if (text === 'none') return 0;
  const [, digits] = /^zstd(?::([1-9]\d?))?$/.exec(text) ?? [];
  const level = Number(digits ?? LEVEL_DEFAULT);
  if ((text !== 'zstd' && digits === undefined) || level > LEVEL_MAX) {
    throw new UsageError(`'${text}' is neither none nor zstd[:LEVEL] (1 to ${LEVEL_MAX})`);
  }
  return level;
}

/** The highest rate that rdsend and rdrecv accept. */
const RATE_MAX_BYTES_PER_S = 1024 ** 5;

/** Bytes per second: a size or bits, with or without `/s`: `200MB/s`, `10Mbit`; 0 for `none`. */
function readRate(text: string): number {
  if (text === 'none') return 0;
  const bytes = readUnits(RATE, text);
  if (bytes === undefined) throw new UsageError(`'${text}' is not a rate (write 200M, 200MiB/s, 1Gbit/s, or none)`);
  if (bytes < 1 || bytes > RATE_MAX_BYTES_PER_S) {
    throw new UsageError(`'${text}' is not a usable rate (1 B/s to 1 PiB/s, or none)`);
  }
  return bytes;
}

/** node's timers are limited to 2^31 - 1 ms. */
const SECONDS_MAX = 2_000_000;

/** Seconds as milliseconds: `10`, `0.5`. */
function readSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= 0.001 && seconds <= SECONDS_MAX)) {
    throw new UsageError(`'${text}' is not a number of seconds (more than 0, at most ${SECONDS_MAX})`);
  }
  return Math.round(seconds * 1000);
}

/** Whole seconds, as ssh accepts them; 0: none. */
function readWholeSeconds(text: string): number {
  const seconds = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= SECONDS_MAX)) {
    throw new UsageError(`'${text}' is not a whole number of seconds (0 for none, at most ${SECONDS_MAX})`);
  }
  return seconds;
}

const SSH_PORT = 22;

/** `7000` or `7000-7010`. */
function readPorts(text: string): readonly [number, number] {
  const [, low, high] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const first = Number(low);
  const last = Number(high ?? low);
  if (!(first >= 1 && last <= 65535)) {
    throw new UsageError(`'${text}' is not a port or a range of ports (1 to 65535, 7000-7010)`);
  }
  if (first === SSH_PORT && last === SSH_PORT)
    throw new UsageError(`${SSH_PORT} is the port of ssh, not one for data (to log in on it use -o Port=${SSH_PORT})`);
  if (first > last) throw new UsageError(`'${text}' is a range of ports that ends before it begins`);
  return [first, last];
}

/** `[STAGE=]STATUS[,...]`. */
function readStatusRule(text: string): StatusRule {
  const equals = text.indexOf('=');
  if (equals < 0) return { stage: undefined, statuses: readStatuses(text) };
  const stage = text.slice(0, equals);
  if (!/^[1-9]\d{0,5}$/.test(stage)) throw new UsageError(`'${stage}' is not the number of a stage`);
  return { stage: Number(stage), statuses: readStatuses(text.slice(equals + 1)) };
}

function readStatuses(text: string): readonly number[] {
  return text.split(',').map((word) => {
    if (!/^\d{1,3}$/.test(word) || Number(word) > 255) {
      throw new UsageError(`'${word}' is not an exit status (0 to 255; several: 1,2)`);
    }
    return Number(word);
  });
}

function readEnough(text: string): 'all' | 'any' | number {
  if (text === 'all' || text === 'any') return text;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is not one of: all, any, a number of hosts`);
}

function readChoice(choices: readonly string[], text: string): string {
  if (!choices.includes(text)) throw new UsageError(`'${text}' is not one of: ${choices.join(', ')}`);
  return text;
}

/** Text that is shown to people and passed to a program: not empty, without control characters. */
function readPlain(what: string, text: string): string {
  if (text === '') throw new UsageError(`the ${what} is empty`);
  if (/\p{Cc}/u.test(text)) throw new UsageError(`the ${what} contains a control character`);
  return text;
}

/** The most addresses of one host that a hop uses at the same time. */
const ADDRESSES_MAX = 8;

function readAddresses(text: string): readonly string[] {
  const addresses = text.split(',').map(readAddress);
  if (addresses.length > ADDRESSES_MAX) throw new UsageError(`'${text}' has more than ${ADDRESSES_MAX} addresses`);
  if (new Set(addresses).size < addresses.length) throw new UsageError(`'${text}' has an address twice`);
  return addresses;
}

/** An address or host name. */
function readAddress(text: string): string {
  const address = readPlain('address', text).replace(/^\[(.*)\]$/, '$1');
  if (!/^[A-Za-z0-9_.:%-]+$/.test(address) || address.startsWith('-')) {
    throw new UsageError(`'${text}' is not an address or host name`);
  }
  return address;
}
