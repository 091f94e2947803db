import { Writable } from 'node:stream';
import { NO_COUNTERS } from '../../src/model/counters.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { CopyReport, HopReport, Report, StageReport } from '../../src/model/report.ts';
import type { TreeEvent, TreeRole } from '../../src/model/tree.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { inputFor } from '../plan/helpers.ts';
import { NO_TOTALS } from '../run/sample.ts';

/** A plan for stages on h1, h2 and this machine. */
export function planFor(words: readonly string[], changes: Parameters<typeof inputFor>[1] = {}): Plan {
  return makePlan(inputFor(words, changes));
}

/** Collects all written text. */
export interface Page {
  text: string;
  write(text: string | Uint8Array): void;
}

export function createPage(): Page {
  const page: Page = {
    text: '',
    write(text) {
      page.text += Buffer.from(text).toString();
    },
  };
  return page;
}

/** A terminal's stream that writes to a page; only the parts of tty.WriteStream that a spinner and a table use. */
export function createScreen(page: Page): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      page.write(chunk);
      done();
    },
  });
  const moves = {
    isTTY: true,
    columns: 80,
    rows: 24,
    cursorTo: (x: number) => stream.write(`<to ${x}>`),
    moveCursor: (_: number, dy: number) => stream.write(`<up ${-dy}>`),
    clearLine: () => stream.write('<clear>'),
  };
  return Object.assign(stream, moves) as unknown as NodeJS.WriteStream;
}

export function stageReport(changes: Partial<StageReport> = {}): StageReport {
  return {
    stage: 1,
    host: 'h1',
    command: 'produce',
    state: 'succeeded',
    code: 0,
    signal: null,
    userMs: 1500,
    systemMs: 200,
    maxRssKib: 2048,
    ...changes,
  };
}

export function hopReport(changes: Partial<HopReport> = {}): HopReport {
  return {
    link: 1,
    from: 'h1',
    to: 'h2',
    transport: 'tcp',
    cipher: 'aes-256-gcm',
    openssl: ['3.5.9'],
    why: 'tcp, encrypted (leaves the machine)',
    devices: [],
    numa: [null, null],
    local: '10.0.0.1:50000',
    peer: '10.0.0.2:40000',
    rttUs: null,
    reconnects: 0,
    result: 'delivered',
    bytes: 3 * 1024 ** 3,
    compress: 0,
    wireBytes: 3 * 1024 ** 3,
    seconds: 1.5,
    bytesPerSecond: 2_147_483_648,
    bottleneck: 'wire',
    inputMs: 100,
    limitMs: 0,
    workerMs: 0,
    wireMs: 900,
    outputMs: 200,
    sendBufferMs: 0,
    receiveWindowMs: 0,
    sentAgain: 0,
    streams: 1,
    sender: { userMs: 300, systemMs: 700, maxRssKib: 12_000 },
    receiver: { userMs: 200, systemMs: 900, maxRssKib: 13_000 },
    notes: [],
    warnings: [],
    ...changes,
  };
}

export function report(changes: Partial<Report> = {}): Report {
  return {
    v: 1,
    run: 'run-1',
    status: 0,
    cause: null,
    causeStage: null,
    message: null,
    seconds: 2,
    stages: [stageReport(), stageReport({ stage: 2, host: 'h2', command: 'consume' })],
    hops: [hopReport()],
    leftBehind: [],
    ...changes,
  };
}

export function copyReport(changes: Partial<CopyReport> = {}): CopyReport {
  return {
    found: 52_347,
    files: 12_345,
    directories: 20,
    links: 0,
    bytes: 3_650_722_201,
    same: 40_000,
    sameFiles: 39_990,
    sameBytes: 9_000_000,
    link: null,
    removed: 3,
    failed: 2,
    failures: [
      { path: 'd/a', message: 'Permission denied', host: 'h1' },
      { path: 'd/<b>', message: 'changed while it was read', host: 'h1' },
    ],
    sentBytes: 3_650_722_201,
    resumedBytes: 0,
    ownersRefused: 0,
    slowestFiles: [{ path: 'd/big', bytes: 1024 ** 3, ms: 500, host: 'h2' }],
    slowestDirectories: [],
    warnings: [],
    ...changes,
  };
}

/** An event from one of a copy's programs. */
export function tree(role: TreeRole, event: TreeEvent, host = 'h1'): Extract<RunEvent, { kind: 'tree' }> {
  return { kind: 'tree', stage: 1, host, role, event };
}

/** A program's sums so far. */
export function treeProgress(changes: Partial<Extract<TreeEvent, { event: 'progress' }>> = {}): TreeEvent {
  return {
    event: 'progress',
    ...NO_TOTALS,
    path: null,
    done: false,
    ...changes,
  };
}

export type Counters = Extract<RunEvent, { kind: 'counters' }>;

/** Counters of a receiver, all zero except for `changes`. */
export function counters(changes: Partial<Counters>): Counters {
  return {
    kind: 'counters',
    link: 1,
    end: 'recv',
    ...NO_COUNTERS,
    ...changes,
  };
}
