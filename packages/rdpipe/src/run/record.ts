/** The record of a run: checks, shows and keeps every event, and reports the first fatal failure. */
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Plan, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { addFailure, addNote, begin, collect, collectTreeEvent } from './collect.ts';
import { createEventCheck } from './event-check.ts';
import { endsTheRun } from './first-cause.ts';
import { toRunEvent } from './run-event.ts';
import { type Failure, initialState, type LinkEnded, type RunState } from './state.ts';
import { createTreeEvents } from './tree-events.ts';

/** Receives the agents' events, shows them, and reports the first failure that ends the run. */
export interface RunRecord {
  readonly state: RunState;
  begin(segment: Segment): void;
  /** @throws SessionError for an event that this host may not send. */
  receive(session: SessionId, event: AgentEvent): void;
  fail(failure: Failure): void;
  note(link: number, text: string): void;
}

/** `absorb` returns true for the failure of a host that the run can do without; `onFatal` is not called for it. */
export function createRecord(
  plan: Plan,
  lenient: boolean,
  emit: Emit,
  onFatal: (failure: Failure) => void,
  absorb: (failure: Failure, state: RunState) => boolean = () => false,
): RunRecord {
  let state = initialState(plan);
  const check = createEventCheck(plan);
  const throttle = createThrottle();
  const setState = (next: RunState) => {
    const news = next.failures.slice(state.failures.length);
    state = next;
    for (const failure of news) if (endsTheRun(failure, lenient) && !absorb(failure, state)) onFatal(failure);
  };
  const trees = createTreeEvents(plan, (event) => {
    emit(event);
    if (event.kind === 'tree') state = collectTreeEvent(state, event.stage, event.event);
  });
  const emitLast = ({ link, end }: LinkEnded) => {
    const counters = state.links.get(link)?.ends[end].counters;
    if (counters !== undefined) emit({ kind: 'counters', link, end, ...counters });
  };
  return {
    get state() {
      return state;
    },
    begin(segment) {
      setState(begin(state, segment));
      emit({ kind: 'segment_started', segment: segment.number });
    },
    receive(session, event) {
      const label = state.labels.get(session) ?? session;
      const violation = check(session, event);
      if (violation !== undefined) throw protocolError(label, violation);
      if (event.event === 'stderr' && trees.take(event)) return;
      if (event.event === 'ended') trees.end(session);
      const shown = toRunEvent(label, event);
      if (shown !== undefined && throttle.isWorthShowing(event)) emit(shown);
      setState(collect(state, session, event, performance.now()));
      if (event.event === 'link_ended' && throttle.hasMore(event)) emitLast(event);
    },
    fail: (failure) => setState(addFailure(state, failure)),
    note: (link, text) => setState(addNote(state, link, text)),
  };
}

function protocolError(label: string, complaint: string): SessionError {
  return new SessionError('agent_protocol', label, `the agent on ${label} sent an invalid message: ${complaint}`);
}

/** Agents send counters 4 times a second; extra counters of an agent that floods are not shown. */
const COUNTERS_APART_MS = 50;

interface Throttle {
  isWorthShowing(event: AgentEvent): boolean;
  /** True if an end has moved more than was shown: its last counters came too soon after others, or not at all. */
  hasMore(ended: LinkEnded): boolean;
}

function createThrottle(): Throttle {
  const shown = new Map<string, { readonly atMs: number; readonly bytes: number; readonly wireBytes: number }>();
  return {
    isWorthShowing(event) {
      if (event.event !== 'counters') return true;
      const end = `${event.link} ${event.end}`;
      const atMs = performance.now();
      if (atMs - (shown.get(end)?.atMs ?? -Infinity) < COUNTERS_APART_MS) return false;
      shown.set(end, { atMs, bytes: event.bytes, wireBytes: event.wire_bytes });
      return true;
    },
    hasMore({ link, end, bytes, wire_bytes: wireBytes }) {
      const last = shown.get(`${link} ${end}`) ?? { bytes: 0, wireBytes: 0 };
      return bytes !== last.bytes || wireBytes !== last.wireBytes;
    },
  };
}
