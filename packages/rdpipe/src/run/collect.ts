/** The reducer: returns the state of a run after an event from an agent. Pure. */
import { NO_COUNTERS } from '../model/counters.ts';
import { okStatuses, type Stage } from '../model/pipeline.ts';
import type { Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent, HopEnd } from '../model/protocol.ts';
import type { TreeEvent } from '../model/tree.ts';
import { isFailure } from './outcomes.ts';
import { afterTreeEvent, NO_EVENTS } from './program-state.ts';
import { countersOf } from './run-event.ts';
import type {
  Connected,
  EndState,
  Exited,
  Failure,
  LeftBehind,
  LinkEnded,
  LinkState,
  RunState,
  StageState,
} from './state.ts';

/** Returns the state after an event from an agent that arrived at `nowMs`. Pure. */
export function collect(state: RunState, session: SessionId, event: AgentEvent, nowMs: number): RunState {
  switch (event.event) {
    case 'exited':
      return exited(state, event);
    case 'connected':
      return connected(state, event, nowMs);
    case 'counters':
      return changeEnd(state, event.link, event.end, { counters: countersOf(event) });
    case 'resumed':
      return resumed(state, event);
    case 'closed':
      return changeEnd(state, event.link, event.end, { hasClosed: true });
    case 'link_ended':
      return linkEnded(state, event, nowMs);
    case 'failed':
      return addFailure(state, {
        kind: 'setup',
        host: hostOf(state, session),
        stage: event.stage,
        code: event.code,
        message: event.message,
      });
    case 'left_behind':
      return leftBehind(state, { host: hostOf(state, session), pid: event.pid, command: event.command });
    default:
      return state;
  }
}

/** Returns the state after an event from a copy program. Pure. */
export function collectTreeEvent(state: RunState, number: number, event: TreeEvent): RunState {
  const before = state.stages.get(number)?.program ?? NO_EVENTS;
  const program = afterTreeEvent(before, event);
  return program === before ? state : changeStage(state, number, { program });
}

/** Marks the segment's stages as started. A stage that is stopped before it could start counts as stopped. */
export function begin(state: RunState, segment: Segment): RunState {
  return segment.stages.reduce((before, { stage }) => changeStage(before, stage.number, { started: true }), state);
}

/** Adds a failure. A stage whose file or command could not be opened or started is marked as refused. */
export function addFailure(state: RunState, failure: Failure): RunState {
  const isRefusal = failure.kind === 'setup' && failure.stage !== null;
  const after = isRefusal ? changeStage(state, failure.stage, { isRefused: true }) : state;
  return { ...after, failures: [...state.failures, failure] };
}

/** Adds a note to a link of the report. */
export function addNote(state: RunState, link: number, note: string): RunState {
  return changeLink(state, link, (before) => ({ notes: [...before.notes, note] }));
}

function connected(state: RunState, event: Connected, nowMs: number): RunState {
  const after = changeEnd(state, event.link, event.end, { connected: event });
  return changeLink(after, event.link, (link) => ({
    transport: link.link.kind === 'local' ? 'local' : event.transport,
    cipher: event.cipher,
    connectedAtMs: link.connectedAtMs ?? nowMs,
  }));
}

function resumed(state: RunState, { link, end }: Extract<AgentEvent, { event: 'resumed' }>): RunState {
  const before = state.links.get(link)?.ends[end].reconnects ?? 0;
  return changeEnd(state, link, end, { reconnects: before + 1 });
}

/** True if the stage itself failed: it was not stopped, its reader had not closed, and its status is not allowed. */
function failedByItself(stage: Stage | undefined, event: Exited): boolean {
  const ok = stage && okStatuses(stage);
  if (event.stopped || event.consumer_closed || ok === undefined) return false;
  return event.code === null || !ok.includes(event.code);
}

function exited(state: RunState, event: Exited): RunState {
  const after = changeStage(state, event.stage, { exit: event });
  const stage = state.stages.get(event.stage)?.planned.stage;
  if (!failedByItself(stage, event)) return after;
  const kind = stage?.kind === 'tree' ? 'tree' : 'stage';
  return addFailure(after, { kind, stage: event.stage, code: event.code, signal: event.signal });
}

function linkEnded(state: RunState, event: LinkEnded, nowMs: number): RunState {
  const before = state.links.get(event.link);
  const { bytes, wire_bytes: wireBytes } = event;
  const counters = { ...NO_COUNTERS, ...before?.ends[event.end].counters, bytes, wireBytes };
  const withEnd = changeEnd(state, event.link, event.end, { ended: event, counters });
  const after = changeLink(withEnd, event.link, () => ({ endedAtMs: nowMs }));
  const { link, end, result, code, message } = event;
  if (result === 'delivered' || result === 'closed') return after;
  if (before !== undefined && !isFailure(before, event)) return after;
  return addFailure(after, { kind: 'link', link, end, result, code, message });
}

/** Ignores a process that was reported before: it may be reported again at the end of the run. */
function leftBehind(state: RunState, left: LeftBehind): RunState {
  if (state.leftBehind.some(({ host, pid }) => host === left.host && pid === left.pid)) return state;
  return { ...state, leftBehind: [...state.leftBehind, left] };
}

function changeStage(state: RunState, number: number, change: Partial<StageState>): RunState {
  const stage = state.stages.get(number);
  if (stage === undefined) return state;
  return { ...state, stages: state.stages.with(number, { ...stage, ...change }) };
}

function changeLink(state: RunState, number: number, change: (link: LinkState) => Partial<LinkState>): RunState {
  const link = state.links.get(number);
  if (link === undefined) return state;
  return { ...state, links: state.links.with(number, { ...link, ...change(link) }) };
}

function changeEnd(state: RunState, number: number, end: HopEnd, change: Partial<EndState>): RunState {
  return changeLink(state, number, ({ ends }) => ({ ends: { ...ends, [end]: { ...ends[end], ...change } } }));
}

function hostOf(state: RunState, session: SessionId): string {
  return state.labels.get(session) ?? session;
}
