// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes records of tree streams, and starts rdtree with settings.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeSettings } from '../../packages/rdpipe/src/model/tree.ts';
import { type Bench, BIN, type Program, type Stdio } from './programs.ts';

export const MIB = 1 << 20;
/** The uid of a user other than root. */
export const ANN = 1234;
export const AS_ANN = ['setpriv', `--reuid=${ANN}`, `--regid=${ANN}`, '--clear-groups'];
export const LEAVE = { type: 'leave', whole: 1 } as const;
export const END = { type: 'end', entries: 0, bytes: 0, failures: 0 } as const;

/** A record; FIELDS has the fields of each type. Names and paths are bytes as latin1, digests hexadecimal. */
export interface TreeRecord {
  readonly type: TreeRecordType;
  readonly name?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly ns?: number;
  readonly seconds?: number;
  readonly source?: number;
  readonly want?: number;
  readonly size?: number;
  readonly digest?: string;
  readonly target?: string;
  readonly device?: number;
  readonly value?: string;
  readonly blockBytes?: number;
  readonly bytes?: number;
  readonly digests?: string;
  readonly offset?: number;
  readonly data?: Buffer;
  readonly state?: number;
  readonly path?: string;
  readonly version?: number;
  readonly phase?: number;
  readonly group?: number;
  readonly id?: number;
  readonly place?: number;
  readonly whole?: number;
  readonly entries?: number;
  readonly failures?: number;
  readonly count?: number;
  /** One byte for each target of several. */
  readonly wants?: string;
}

export const PHASE = { entries: 1, decisions: 2, contents: 3, results: 4, share: 5 } as const;
export const WANT = { all: 0, metadata: 1, nothing: 2, rest: 3, link: 4 } as const;
export const STATE = { whole: 0, again: 1, dropped: 2 } as const;

type Kind = 4 | 8 | 'sized' | 'rest' | 'data' | 'hex' | 'digest' | 'maybe digest';
type Field = readonly [keyof TreeRecord, Kind];

const METADATA: readonly Field[] = [
  ['mode', 4],
  ['uid', 4],
  ['gid', 4],
  ['ns', 4],
  ['seconds', 8],
];
const ENTRY: readonly Field[] = [['name', 'sized'], ...METADATA, ['source', 4], ['want', 4]];
const FIELDS = {
  head: [
    ['version', 4],
    ['phase', 4],
  ],
  owner: [
    ['group', 4],
    ['id', 4],
    ['name', 'rest'],
  ],
  place: [['place', 4]],
  enter: ENTRY,
  leave: [['whole', 4]],
  file: [...ENTRY, ['size', 8], ['digest', 'maybe digest']],
  symlink: [...ENTRY, ['target', 'rest']],
  special: [...ENTRY, ['device', 8]],
  link: [...ENTRY, ['size', 8], ['target', 'rest']],
  xattr: [
    ['name', 'sized'],
    ['value', 'rest'],
  ],
  blocks: [
    ['blockBytes', 8],
    ['bytes', 8],
    ['digests', 'hex'],
  ],
  data: [
    ['offset', 8],
    ['data', 'data'],
  ],
  file_end: [['state', 4], ['size', 8], ['digest', 'digest'], ...METADATA],
  remove: [['name', 'rest']],
  failed: [['name', 'rest']],
  done: [['source', 4], ...METADATA, ['size', 8], ['path', 'rest']],
  end: [
    ['entries', 8],
    ['bytes', 8],
    ['failures', 8],
  ],
  skip: [['count', 8]],
  wants: [['wants', 'hex']],
} as const satisfies Record<string, readonly Field[]>;

export type TreeRecordType = keyof typeof FIELDS;

const TYPES = Object.keys(FIELDS) as readonly TreeRecordType[];

/** Encodes records as a stream that begins with a HEAD. */
export function encodeTree(phase: number, records: readonly TreeRecord[]): Buffer {
  return Buffer.concat([{ type: 'head', version: 2, phase } as const, ...records].map(encodeRecord));
}

export function encodeRecord(record: TreeRecord): Buffer {
  const fields: readonly Field[] = FIELDS[record.type];
  const payload = Buffer.concat(fields.map(([name, kind]) => encodeField(record[name], kind)));
  return Buffer.concat([u32(payload.length), u32(TYPES.indexOf(record.type) + 1), payload]);
}

/** The complete records of a stream, without the HEAD. */
export function decodeTree(stream: Buffer): TreeRecord[] {
  const records: TreeRecord[] = [];
  for (let at = 0; at + 8 <= stream.length; ) {
    const end = at + 8 + stream.readUInt32LE(at);
    const type = TYPES[stream.readUInt32LE(at + 4) - 1];
    if (type === undefined) throw new Error(`record of an unknown type at ${at}`);
    if (end > stream.length) break;
    records.push(decodeRecord(type, stream.subarray(at + 8, end)));
    at = end;
  }
  return records.slice(1);
}

/** Starts rdtree with these settings, whose paths are text here. */
export function startTree(
  bench: Bench,
  settings: TextSettings,
  stdin: Stdio[0],
  through: readonly string[] = [],
): Program {
  const file = bench.path(`settings-${settings.role}`);
  writeFileSync(file, JSON.stringify(inHex(settings)));
  const fd = openSync(file, 'r');
  const [program = '', ...words] = [...through, join(BIN, 'rdtree'), '--settings-fd', '3'];
  const started = bench.start(program, words, [stdin, 'pipe', 'pipe', fd] as Stdio);
  closeSync(fd);
  return started;
}

export type TextSettings = Omit<TreeSettings, 'run'>;

/** Decodes the path of an event. */
export function inText(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}

function inHex(settings: TextSettings): TreeSettings {
  const { sources, target, link_dests, patterns, list_text, ...rest } = settings;
  return {
    run: '0',
    ...rest,
    ...(sources === undefined ? {} : { sources: sources.map(hexOf) }),
    ...(target === undefined ? {} : { target: hexOf(target) }),
    ...(list_text === undefined ? {} : { list_text: hexOf(list_text) }),
    ...(link_dests === undefined ? {} : { link_dests: link_dests.map(hexOf) }),
    ...(patterns === undefined
      ? {}
      : { patterns: patterns.map(({ include, pattern }) => ({ include, pattern: hexOf(pattern) })) }),
  };
}

function hexOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

function encodeField(value: TreeRecord[keyof TreeRecord], kind: Kind): Buffer {
  if (Buffer.isBuffer(value)) return value;
  const text = Buffer.from(`${value ?? ''}`, 'latin1');
  switch (kind) {
    case 4:
      return u32(Number(value ?? 0));
    case 8:
      return u64(Number(value ?? 0));
    case 'sized':
      return Buffer.concat([u32(text.length).subarray(0, 2), text]);
    case 'hex':
      return Buffer.from(`${value ?? ''}`, 'hex');
    case 'digest':
      return Buffer.from(`${value ?? '00'.repeat(16)}`, 'hex');
    case 'maybe digest':
      return value === undefined ? u32(0) : Buffer.concat([u32(1), Buffer.from(`${value}`, 'hex')]);
    default:
      return text;
  }
}

function decodeRecord(type: TreeRecordType, payload: Buffer): TreeRecord {
  const record: Record<string, unknown> = { type };
  let rest = payload;
  const take = (count: number) => {
    const taken = rest.subarray(0, count);
    rest = rest.subarray(count);
    return taken;
  };
  for (const [name, kind] of FIELDS[type]) {
    const value = decodeField(kind, take, rest.length);
    if (value !== undefined) record[name] = value;
  }
  if (rest.length > 0) throw new Error(`${rest.length} bytes are left over in ${type}`);
  return record as unknown as TreeRecord;
}

function decodeField(kind: Kind, take: (count: number) => Buffer, left: number): number | string | Buffer | undefined {
  switch (kind) {
    case 4:
      return take(4).readUInt32LE();
    case 8:
      return Number(take(8).readBigInt64LE());
    case 'sized':
      return take(take(2).readUInt16LE()).toString('latin1');
    case 'hex':
      return take(left).toString('hex');
    case 'digest':
      return take(16).toString('hex');
    case 'maybe digest':
      return take(4).readUInt32LE() === 0 ? undefined : take(16).toString('hex');
    case 'data':
      return Buffer.from(take(left));
    default:
      return take(left).toString('latin1');
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}
