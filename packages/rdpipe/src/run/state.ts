/** The state of a run: stages, links and failures so far. Pure data. */
import { type Counters, NO_COUNTERS } from '../model/counters.ts';
import type { RdpipeError } from '../model/errors.ts';
import type { HopLink, LocalLink, Plan, PlannedStage, SessionId } from '../model/plan.ts';
import type { AgentEvent, HopEnd, NativeCode } from '../model/protocol.ts';
import { FixedMap } from './fixed-map.ts';
import { NO_EVENTS, type ProgramState } from './program-state.ts';

export type Exited = Extract<AgentEvent, { event: 'exited' }>;
export type Connected = Extract<AgentEvent, { event: 'connected' }>;
export type LinkEnded = Extract<AgentEvent, { event: 'link_ended' }>;

export interface StageState {
  readonly planned: PlannedStage;
  readonly host: string;
  /** The stage's segment has started. */
  readonly started: boolean;
  readonly exit: Exited | undefined;
  /** The stage's file or command could not be opened or started. */
  readonly isRefused: boolean;
  /** The events so far, if the stage is a copy program. */
  readonly program: ProgramState;
}

export interface EndState {
  readonly connected: Connected | undefined;
  readonly counters: Counters;
  /** Number of times that the connection broke and was restored. */
  readonly reconnects: number;
  /** Receiver only: its consumer closed its input. */
  readonly hasClosed: boolean;
  readonly ended: LinkEnded | undefined;
}

/** A link that native programs carry: between two hosts, or within one. */
export type CarriedLink = HopLink | LocalLink;

export interface LinkState {
  readonly link: CarriedLink;
  readonly from: string;
  readonly to: string;
  readonly transport: string;
  readonly cipher: string;
  readonly connectedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly ends: Readonly<Record<HopEnd, EndState>>;
  readonly notes: readonly string[];
}

/** One thing that went wrong. */
export type Failure =
  | { readonly kind: 'stage'; readonly stage: number; readonly code: number | null; readonly signal: number | null }
  /** A copy program failed. */
  | { readonly kind: 'tree'; readonly stage: number; readonly code: number | null; readonly signal: number | null }
  | {
      readonly kind: 'setup';
      readonly host: string;
      readonly stage: number | null;
      readonly code: NativeCode;
      readonly message: string;
    }
  | {
      readonly kind: 'link';
      readonly link: number;
      readonly end: HopEnd;
      readonly result: 'aborted' | 'failed';
      readonly code: NativeCode;
      readonly message: string;
    }
  | { readonly kind: 'error'; readonly error: RdpipeError };

export interface LeftBehind {
  readonly host: string;
  readonly pid: number;
  readonly command: string;
}

export interface RunState {
  readonly labels: ReadonlyMap<SessionId, string>;
  readonly stages: FixedMap<number, StageState>;
  readonly links: FixedMap<number, LinkState>;
  /** In order of arrival. */
  readonly failures: readonly Failure[];
  /** Failures of hosts that the run did without, as permitted by --require. */
  readonly losses: readonly Failure[];
  readonly leftBehind: readonly LeftBehind[];
}

const NOTHING: EndState = {
  connected: undefined,
  counters: NO_COUNTERS,
  reconnects: 0,
  hasClosed: false,
  ended: undefined,
};

/** Returns the state before anything is started. */
export function initialState(plan: Plan): RunState {
  const labels = new Map(plan.sessions.map((session) => [session.id, session.label]));
  const label = (id: SessionId) => labels.get(id) ?? id;
  const stages = new Map<number, StageState>();
  const links = new Map<number, LinkState>();
  for (const segment of plan.segments) {
    for (const planned of segment.stages) {
      stages.set(planned.stage.number, {
        planned,
        host: label(planned.session),
        started: false,
        exit: undefined,
        isRefused: false,
        program: NO_EVENTS,
      });
    }
    for (const link of segment.links) {
      if (link.kind === 'hop') links.set(link.number, unconnected(link, label(link.from), label(link.to)));
      if (link.kind === 'local') links.set(link.number, unconnected(link, label(link.session), label(link.session)));
    }
  }
  return { labels, stages: FixedMap.of(stages), links: FixedMap.of(links), failures: [], losses: [], leftBehind: [] };
}

function unconnected(link: CarriedLink, from: string, to: string): LinkState {
  return {
    link,
    from,
    to,
    transport: link.kind === 'hop' ? link.transport : 'local',
    cipher: 'none',
    connectedAtMs: undefined,
    endedAtMs: undefined,
    ends: { send: NOTHING, recv: NOTHING },
    notes: [],
  };
}
