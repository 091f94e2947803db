/** The events of a run, which `run` emits and `ui` shows; the two meet only here. */
import type { Counters } from './counters.ts';
import type { Plan } from './plan.ts';
import type { HopEnd } from './protocol.ts';
import type { Report } from './report.ts';
import type { TreeEvent, TreeRole } from './tree.ts';

export type RunEvent =
  | { readonly kind: 'connecting'; readonly hosts: readonly string[] }
  | { readonly kind: 'host_connected'; readonly host: string }
  | { readonly kind: 'deploying'; readonly host: string; readonly bytes: number }
  /** The user is asked a question: live output pauses until it is answered. */
  | { readonly kind: 'prompting'; readonly host: string; readonly active: boolean }
  | { readonly kind: 'planned'; readonly plan: Plan }
  | { readonly kind: 'segment_started'; readonly segment: number }
  | {
      readonly kind: 'hop_connected';
      readonly link: number;
      readonly transport: string;
      readonly cipher: string;
      readonly way: string;
    }
  /** One end of a hop lost its connection, and makes a new one. */
  | {
      readonly kind: 'hop_broken';
      readonly link: number;
      readonly end: HopEnd;
      readonly host: string;
      readonly message: string;
    }
  /** That end has a new one, and goes on from this position. */
  | {
      readonly kind: 'hop_resumed';
      readonly link: number;
      readonly end: HopEnd;
      readonly host: string;
      readonly bytes: number;
    }
  | { readonly kind: 'size'; readonly link: number; readonly bytes: number }
  | ({ readonly kind: 'counters'; readonly link: number; readonly end: HopEnd } & Counters)
  /** The pipeline's output comes to the terminal now: live output there has to be erased before this returns. */
  | { readonly kind: 'output'; readonly link: number }
  | { readonly kind: 'stderr'; readonly stage: number; readonly host: string; readonly data: Uint8Array }
  /** An event of a program of a copy, on its standard error. */
  | {
      readonly kind: 'tree';
      readonly stage: number;
      readonly host: string;
      readonly role: TreeRole;
      readonly event: TreeEvent;
    }
  | { readonly kind: 'stage_started'; readonly stage: number; readonly host: string; readonly pid: number }
  | {
      readonly kind: 'stage_exited';
      readonly stage: number;
      readonly host: string;
      readonly code: number | null;
      readonly signal: number | null;
    }
  /** A host is lost, and the others go on. */
  | { readonly kind: 'host_lost'; readonly host: string; readonly message: string }
  /** A host holds up the others of its chain: what takes the stream there is slow. */
  | { readonly kind: 'host_slow'; readonly host: string; readonly message: string }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'suspended' | 'resumed' }
  /** For -vv: a line about what is done. */
  | { readonly kind: 'log'; readonly message: string }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'finished'; readonly report: Report };

export type RunEventKind = RunEvent['kind'];
/** Where a run puts its events. Never throws. */
export type Emit = (event: RunEvent) => void;

/** Follows an examination or a measurement. Neither function throws. */
export interface Watcher {
  /** Takes a short phrase: `connecting to h1`. */
  readonly doing: (activity: string) => void;
  /** Takes the events of the sessions and of the runs that measure. */
  readonly emit: Emit;
}
