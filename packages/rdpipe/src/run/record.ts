import type { Emit } from '../model/events.ts';
import type { Plan, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { addFailure, addNote, begin, collect } from './collect.ts';
import { endsTheRun } from './first-cause.ts';
import { toRunEvent } from './run-event.ts';
import { type Failure, initialState, type RunState } from './state.ts';

/** The run's memory: takes what the agents say, shows it, and tells of the first failure that ends the run. */
export interface RunRecord {
  readonly state: RunState;
  begin(segment: Segment): void;
  hear(session: SessionId, event: AgentEvent): void;
  fail(failure: Failure): void;
  note(link: number, words: string): void;
}

export function createRecord(plan: Plan, lenient: boolean, emit: Emit, onFatal: (failure: Failure) => void): RunRecord {
  let state = initialState(plan);
  const become = (next: RunState) => {
    const news = next.failures.slice(state.failures.length);
    state = next;
    for (const failure of news) if (endsTheRun(failure, lenient)) onFatal(failure);
  };
  return {
    get state() {
      return state;
    },
    begin(segment) {
      become(begin(state, segment));
      emit({ kind: 'segment_started', segment: segment.number });
    },
    hear(session, event) {
      const shown = toRunEvent(state.labels.get(session) ?? session, event);
      if (shown !== undefined) emit(shown);
      become(collect(state, session, event, performance.now()));
    },
    fail: (failure) => become(addFailure(state, failure)),
    note: (link, words) => become(addNote(state, link, words)),
  };
}
