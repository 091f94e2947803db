// SPDX-License-Identifier: Apache-2.0
// Runs `rdtree` in the role `compare` on a target, with source entries that a test defines.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { jsonLines } from './json-output.ts';
import { type Bench, useBench } from './programs.ts';
import {
  decodeTree,
  END,
  encodeTree,
  PHASE,
  startTree,
  type TextSettings,
  type TreeRecord,
  WANT,
} from './tree-stream.ts';

export const SECONDS = 1_600_000_000;

const COMMON = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ns: 0, seconds: SECONDS };
/** Functions for the scripts of make(); each creates the file that the entry of the same name describes. */
const PRELUDE = `umask 022
  old() { touch -h -d @${SECONDS} "$@"; }
  file() { for f; do printf hello >"$f"; old "$f"; done; }
  directory() { for f; do mkdir -p "$f"; old "$f"; done; }
  symlink() { ln -s "$2" "$1"; old "$1"; }
`;

export interface Compared {
  readonly records: readonly TreeRecord[];
  readonly text: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly status: number | null;
}

export function file(name: string, more: Partial<TreeRecord> = {}): TreeRecord {
  return { type: 'file', name, mode: 0o100644, ...COMMON, size: 5, ...more };
}

export function enter(name: string, more: Partial<TreeRecord> = {}): TreeRecord {
  return { type: 'enter', name, mode: 0o040755, ...COMMON, ...more };
}

export function symlink(name: string, target: string, more: Partial<TreeRecord> = {}): TreeRecord {
  return { type: 'symlink', name, mode: 0o120777, ...COMMON, target, ...more };
}

export function special(name: string, mode: number, device = 0): TreeRecord {
  return { type: 'special', name, mode, ...COMMON, device };
}

export function link(name: string, target: string): TreeRecord {
  return { type: 'link', name, mode: 0o100644, ...COMMON, size: 5, target };
}

/** An entry as type, name and wanted part (`file f all`); another record as type and name. */
export function wordsOf({ type, name, want }: TreeRecord): string {
  const isEntry = ['enter', 'file', 'symlink', 'special', 'link'].includes(type);
  const wanted = isEntry ? Object.entries(WANT).find(([, value]) => value === want)?.[0] : undefined;
  return [type, name, wanted].filter((word) => word !== undefined).join(' ');
}

export class CompareBench {
  readonly bench: Bench;

  constructor(bench: Bench) {
    this.bench = bench;
  }

  get target(): string {
    return this.bench.path('target');
  }

  at(name: string): string {
    return `${this.target}/${name}`;
  }

  empty(): void {
    rmSync(this.target, { recursive: true, force: true });
    mkdirSync(this.target);
  }

  /** Runs a script in the target. */
  make(script: string): void {
    execFileSync('bash', ['-ec', PRELUDE + script], { cwd: this.target });
  }

  /** Runs compare on `records`, including the END record, or on a complete stream. */
  async compare(
    records: readonly TreeRecord[] | Buffer,
    settings: Partial<TextSettings> = {},
    through: readonly string[] = [],
  ): Promise<Compared> {
    const all = { role: 'compare', target: this.target, recursive: true, archive: true, ...settings } as const;
    const program = startTree(this.bench, all, 'pipe', through);
    program.child.stdin?.on('error', () => undefined); // the program may end before it has read everything
    program.child.stdin?.end(Buffer.isBuffer(records) ? records : encodeTree(PHASE.entries, records));
    const { status, stdout, stderr } = await program.ended;
    return {
      records: settings.plan === undefined ? decodeTree(stdout) : [],
      text: stdout.toString(),
      events: stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      status,
    };
  }

  /** The records that compare outputs, as wordsOf(), without `place` and `end`. */
  async passed(records: readonly TreeRecord[], settings: Partial<TextSettings> = {}): Promise<string[]> {
    const compared = await this.compare([...records, END], settings);
    expect(compared.status).to.equal(0);
    return compared.records.map(wordsOf).filter((words) => words !== 'place' && words !== 'end');
  }

  /** The reasons of the only path of the plan. */
  async reasons(records: readonly TreeRecord[], settings: Partial<TextSettings> = {}): Promise<string> {
    const { text } = await this.compare([...records, END], { plan: 'json', ...settings });
    const paths = jsonLines<{ readonly reasons: readonly string[] }>(text, 'copyPlan').slice(0, -1);
    expect(paths.length).to.be.lessThan(2);
    return paths.flatMap(({ reasons }) => reasons).join(' ');
  }
}

/** The target is empty before each test. */
export function useCompare(): CompareBench {
  const on = new CompareBench(useBench());
  beforeEach(() => on.empty());
  return on;
}
