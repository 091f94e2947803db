/** A plan of three hosts and the messages of its agents, for tables. */
import { fieldsOf } from '../../src/model/option-fields.ts';
import type { Plan, PlannedLink, PlannedStage } from '../../src/model/plan.ts';
import type { AgentEvent, HopEnd, HopPlan, NativeCode } from '../../src/model/protocol.ts';
import type { TreeRole } from '../../src/model/tree.ts';
import { DEFAULTS } from '../default-settings.ts';

type EventOf<Name extends AgentEvent['event']> = Extract<AgentEvent, { event: Name }>;

/** The settings of a hop if nothing is set. */
export const OPEN: HopPlan = { ...fieldsOf('hop', DEFAULTS), encrypt: 'tcp', ports: [0, 0] };

export const PLAN = threeHosts();

/** `h1:produce h2:'filter --x' h3:consume`, standard input and output unused. */
function threeHosts(): Plan {
  return {
    run: 'r1',
    sessions: [
      { id: 's1', label: 'h1' },
      { id: 's2', label: 'h2' },
      { id: 's3', label: 'h3' },
    ],
    segments: [
      {
        number: 1,
        stages: [command(1, 'h1', 'produce'), command(2, 'h2', 'filter --x'), command(3, 'h3', 'consume')],
        links: [
          { number: 0, kind: 'null', session: 's1' },
          hop(1, 's1', 's2'),
          hop(2, 's2', 's3'),
          { number: 3, kind: 'null', session: 's3' },
        ],
      },
    ],
  };
}

/** `h1:'< in' h2:'> out'`. */
export const FILE_PLAN: Plan = {
  run: 'r2',
  sessions: [
    { id: 's1', label: 'h1' },
    { id: 's2', label: 'h2' },
  ],
  segments: [
    {
      number: 1,
      stages: [
        {
          stage: { number: 1, host: host('h1'), text: '< in', kind: 'source', word: Buffer.from('in') },
          session: 's1',
          in: undefined,
          out: 1,
        },
        {
          stage: { number: 2, host: host('h2'), text: '> out', kind: 'sink', word: Buffer.from('out'), append: false },
          session: 's2',
          in: 1,
          out: undefined,
        },
      ],
      links: [hop(1, 's1', 's2')],
    },
  ],
};

/** A copy from h1 to h2: scan, compare, read, write. */
export const COPY_PLAN: Plan = {
  run: 'r3',
  sessions: [
    { id: 's1', label: 'h1' },
    { id: 's2', label: 'h2' },
  ],
  segments: [
    {
      number: 1,
      stages: [tree(1, 'h1', 'scan'), tree(2, 'h2', 'compare'), tree(3, 'h1', 'read'), tree(4, 'h2', 'write')],
      links: [
        { number: 0, kind: 'null', session: 's1' },
        hop(1, 's1', 's2'),
        hop(2, 's2', 's1'),
        hop(3, 's1', 's2'),
        { number: 4, kind: 'null', session: 's2' },
      ],
    },
  ],
};

function tree(number: number, name: string, role: TreeRole): PlannedStage {
  const settings = { role, run: 'a-1' };
  return {
    stage: { number, host: host(name), text: `${role} /data`, kind: 'tree', settings },
    session: name.replace('h', 's'),
    in: number - 1,
    out: number,
  };
}

/** Lines on a stage's standard error, in one message. */
export function printed(stage: number, ...lines: readonly (object | string)[]): AgentEvent {
  const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  return { event: 'stderr', stage, data: Buffer.from(text).toString('hex') };
}

/** A path as it is in events. */
export function hexPath(path: string): string {
  return Buffer.from(path).toString('hex');
}

/** The totals of a program that has done nothing. */
export const NO_TOTALS = {
  entries: 0,
  files: 0,
  bytes: 0,
  same: 0,
  same_files: 0,
  same_bytes: 0,
  sent_bytes: 0,
  removed: 0,
  failed: 0,
  links: 0,
  directories: 0,
  resumed_bytes: 0,
  owners_refused: 0,
};

export function progress(totals: Partial<typeof NO_TOTALS>, done = true): object {
  return { event: 'progress', ...NO_TOTALS, ...totals, path: null, done };
}

export function failedPath(path: string, message = 'permission denied'): object {
  return { event: 'failed', path: hexPath(path), code: 'EACCES', message };
}

function command(number: number, name: string, text: string): PlannedStage {
  return {
    stage: { number, host: host(name), text, kind: 'command', command: Buffer.from(text), shell: 'sh', ok: [0] },
    session: `s${number}`,
    in: number - 1,
    out: number,
  };
}

function host(name: string) {
  return { name, user: undefined, label: name };
}

export function hop(number: number, from: string, to: string): Extract<PlannedLink, { kind: 'hop' }> {
  return {
    number,
    kind: 'hop',
    from,
    to,
    source: 'stage',
    sink: 'stage',
    transport: 'tcp',
    why: 'tcp (no RDMA device on h1 or h2), encrypted (leaves the machine)',
    candidates: [
      {
        transport: 'tcp',
        dialer: 'sender',
        way: 'address',
        host: '10.0.0.2',
        from: null,
        device: null,
        why: 'ssh address',
      },
    ],
    bind: { sender: null, receiver: '10.0.0.2', rdma: '10.1.0.2' },
    open: OPEN,
  };
}

const NOTHING_USED = { user_ms: 0, system_ms: 0, max_rss_kib: 0 };

export function exited(stage: number, how: Partial<EventOf<'exited'>> = {}): AgentEvent {
  return {
    event: 'exited',
    stage,
    code: how.signal === undefined ? 0 : null,
    signal: null,
    stopped: false,
    consumer_closed: false,
    user_ms: 5,
    system_ms: 6,
    max_rss_kib: 700,
    ...how,
  };
}

/** All events of a stage that runs and exits. */
export function ran(stage: number, how: Partial<EventOf<'exited'>> = {}): AgentEvent[] {
  return [{ event: 'prepared', segment: 1 }, { event: 'started', stage, pid: 4711 }, exited(stage, how)];
}

export function linkEnded(link: number, end: HopEnd, how: Partial<EventOf<'link_ended'>> = {}): AgentEvent {
  const ended = { result: 'delivered', status: 0, code: 'ok', message: '', bytes: 0, wire_bytes: 0 } as const;
  return { event: 'link_ended', link, end, ...ended, ...NOTHING_USED, ...how };
}

export function linkFailed(link: number, end: HopEnd, code: NativeCode, message: string): AgentEvent {
  return linkEnded(link, end, { result: code === 'aborted' ? 'aborted' : 'failed', status: 5, code, message });
}

export function connected(link: number, end: HopEnd, how: Partial<EventOf<'connected'>> = {}): AgentEvent {
  const [local, peer] = ['10.0.0.1:50000', '10.0.0.2:40000'];
  const made = {
    transport: 'tcp',
    cipher: 'aes-256-gcm',
    openssl: '3.5.9',
    device: null,
    numa: null,
    note: null,
  } as const;
  return { event: 'connected', link, end, local, peer, ...made, ...how };
}

export function counters(link: number, end: HopEnd, how: Partial<EventOf<'counters'>> = {}): AgentEvent {
  return {
    event: 'counters',
    link,
    end,
    bytes: 0,
    wire_bytes: 0,
    input_ms: 0,
    limit_ms: 0,
    worker_ms: 0,
    wire_ms: 0,
    output_ms: 0,
    send_buffer_ms: 0,
    receive_window_ms: 0,
    sent_again: 0,
    streams: 1,
    rtt_us: 0,
    ...how,
  };
}

export function broken(link: number, end: HopEnd, message = 'connection reset'): AgentEvent {
  return { event: 'broken', link, end, message };
}

export function resumed(link: number, end: HopEnd, how: Partial<EventOf<'resumed'>> = {}): AgentEvent {
  return { event: 'resumed', link, end, epoch: 2, bytes: 0, ...how };
}
