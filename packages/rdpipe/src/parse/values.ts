/** Reads the values of options and of the config file. Each throws a UsageError that says what would be right, without naming the option. */
import { UsageError } from '../model/errors.ts';

/** Bytes: `4096`, `8M`, `1.5G`, `8MB` (powers of 1000), `8Mi`, `8MiB` (powers of 1024). */
export function readSize(text: string): number {
  const bytes = readUnits(SIZE, text);
  if (bytes === undefined) throw new UsageError(`'${text}' is not a size (write 8M, 8MiB or a number of bytes)`);
  if (!Number.isSafeInteger(bytes)) throw new UsageError(`'${text}' is too large a size`);
  return bytes;
}

/** The by-hand programs read them alike: packages/rdcore-native/src/base/size_text.c. A small b would mean bits to some. */
const SIZE = /^(\d+(?:\.\d+)?)(?: (?=.))?(?:([KMGTPkmgtp])(i?))?B?$/;
const RATE = /^(\d+(?:\.\d+)?)(?: (?=.))?(?:([KMGTPkmgtp])(i?))?(?:B|(bit))?(?:\/s)?$/;
const POWERS = 'KMGTP';

/** Whole bytes; undefined for what is none. */
function readUnits(units: RegExp, text: string): number | undefined {
  const [match, number, letter = '', i, bit] = units.exec(text) ?? [];
  if (match === undefined) return undefined;
  const power = letter === '' ? 0 : POWERS.indexOf(letter.toUpperCase()) + 1;
  return Math.round((Number(number) * (i === 'i' ? 1024 : 1000) ** power) / (bit === undefined ? 1 : 8));
}

/** The smallest window that holds a frame or two, and the largest that a hop may lock in memory. */
const BUFFER_MIN_BYTES = 64 * 1024;
const BUFFER_MAX_BYTES = 1024 * 1024 * 1024;

export function readBuffer(text: string): number {
  const bytes = readSize(text);
  if (bytes < BUFFER_MIN_BYTES || bytes > BUFFER_MAX_BYTES) {
    throw new UsageError(`'${text}' is not a usable buffer (64KiB to 1GiB)`);
  }
  return bytes;
}

/** Levels of zstd that need no more memory than others do at either end, and the one that is as fast as networks want it. */
const LEVEL_MAX = 19;
const LEVEL_DEFAULT = 1;

/** A level of zstd: `zstd`, `zstd:3`; 0 for `none`. */
export function readCompress(text: string): number {
  if (text === 'none') return 0;
  const [, digits] = /^zstd(?::([1-9]\d?))?$/.exec(text) ?? [];
  const level = Number(digits ?? LEVEL_DEFAULT);
  if ((text !== 'zstd' && digits === undefined) || level > LEVEL_MAX) {
    throw new UsageError(`'${text}' is neither none nor zstd[:LEVEL] (1 to ${LEVEL_MAX})`);
  }
  return level;
}

const JOBS_MAX = 64;

/** How many threads; 0 leaves it to each host. */
export function readJobs(text: string): number {
  const jobs = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(jobs <= JOBS_MAX)) throw new UsageError(`'${text}' is not a number of threads (0 to ${JOBS_MAX})`);
  return jobs;
}

const ROUNDS_MAX = 1000;

export function readRounds(text: string): number {
  const rounds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (rounds < 1 || rounds > ROUNDS_MAX)
    throw new UsageError(`'${text}' is not a number of rounds (1 to ${ROUNDS_MAX})`);
  return rounds;
}

/** What the programs take as a rate. */
const LIMIT_MAX_BYTES_PER_S = 1024 ** 5;

/** Bytes a second: what a size may be, with `/s` or without, and bits: `200MB/s`, `10Mbit`; 0 for `none`. */
export function readLimit(text: string): number {
  if (text === 'none') return 0;
  const bytes = readUnits(RATE, text);
  if (bytes === undefined) throw new UsageError(`'${text}' is not a rate (write 200M, 200MiB/s, 1Gbit/s, or none)`);
  if (bytes < 1 || bytes > LIMIT_MAX_BYTES_PER_S) {
    throw new UsageError(`'${text}' is not a usable rate (1 B/s to 1 PiB/s, or none)`);
  }
  return bytes;
}

/** node's timers hold 2^31 - 1 ms. */
const SECONDS_MAX = 2_000_000;

/** Seconds as milliseconds: `10`, `0.5`. */
export function readSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= 0.001 && seconds <= SECONDS_MAX)) {
    throw new UsageError(`'${text}' is not a number of seconds (more than 0, at most ${SECONDS_MAX})`);
  }
  return Math.round(seconds * 1000);
}

/** Whole seconds, as ssh takes them; 0 for none. */
export function readPersist(text: string): number {
  const seconds = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= SECONDS_MAX)) {
    throw new UsageError(`'${text}' is not a whole number of seconds (0 for none, at most ${SECONDS_MAX})`);
  }
  return seconds;
}

/** rdsend and rdrecv take no less: a PING could not be answered in time. */
const STALL_TIMEOUT_MIN_MS = 2000;

export function readStallTimeout(text: string): number {
  const milliseconds = readSeconds(text);
  if (milliseconds < STALL_TIMEOUT_MIN_MS) throw new UsageError(`'${text}' is too short (2 seconds at least)`);
  return milliseconds;
}

/** `7000` or `7000-7010`. */
export function readPorts(text: string): readonly [number, number] {
  const [, low, high] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const first = Number(low);
  const last = Number(high ?? low);
  if (!(first >= 1 && last <= 65535)) {
    throw new UsageError(`'${text}' is not a port or a range of ports (1 to 65535, 7000-7010)`);
  }
  if (first > last) throw new UsageError(`'${text}' is a range of ports that ends before it begins`);
  return [first, last];
}

/** Comma-separated exit statuses. */
export function readStatuses(text: string): readonly number[] {
  return text.split(',').map((word) => {
    if (!/^\d{1,3}$/.test(word) || Number(word) > 255) {
      throw new UsageError(`'${word}' is not an exit status (0 to 255; several: 1,2)`);
    }
    return Number(word);
  });
}

export function readChoice<const Choice extends string>(choices: readonly Choice[], text: string): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new UsageError(`'${text}' is none of ${choices.join(', ')}`);
  return choice;
}

/** A word that a person reads and a program takes: not empty, no control characters. */
export function readPlain(what: string, text: string): string {
  if (text === '') throw new UsageError(`the ${what} is empty`);
  if (/\p{Cc}/u.test(text)) throw new UsageError(`the ${what} contains a control character`);
  return text;
}

/** An address or host name. */
export function readAddress(text: string): string {
  const address = readPlain('address', text).replace(/^\[(.*)\]$/, '$1');
  if (!/^[A-Za-z0-9_.:%-]+$/.test(address) || address.startsWith('-')) {
    throw new UsageError(`'${text}' is not an address or host name`);
  }
  return address;
}
