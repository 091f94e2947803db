/** The events of a run: the only interface between `run`, which emits, and `ui`, which shows them. */
import type { Counters } from './counters.ts';
import type { Plan } from './plan.ts';
import type { HopEnd } from './protocol.ts';
import type { Report } from './report.ts';
import type { TreeEvent, TreeRole } from './tree.ts';

export type RunEvent =
  | { readonly kind: 'connecting'; readonly hosts: readonly string[] }
  /** `lacks`: the protections that its kernel lacks, each with the consequence. */
  | { readonly kind: 'host_connected'; readonly host: string; readonly lacks: readonly string[] }
  | { readonly kind: 'deploying'; readonly host: string; readonly bytes: number; readonly copied: number }
  /** `active`: a question to the user is open, and live output pauses until the answer. */
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
  /** One end of a hop lost its connection and reconnects. */
  | {
      readonly kind: 'hop_broken';
      readonly link: number;
      readonly end: HopEnd;
      readonly host: string;
      readonly message: string;
    }
  /** The end has reconnected and resumes at this position in the stream. */
  | {
      readonly kind: 'hop_resumed';
      readonly link: number;
      readonly end: HopEnd;
      readonly host: string;
      readonly bytes: number;
    }
  | { readonly kind: 'size'; readonly link: number; readonly bytes: number }
  | ({ readonly kind: 'counters'; readonly link: number; readonly end: HopEnd } & Counters)
  /** The pipeline's first output to the terminal follows: the receiver erases live output there before it returns. */
  | { readonly kind: 'output'; readonly link: number }
  | { readonly kind: 'stderr'; readonly stage: number; readonly host: string; readonly data: Uint8Array }
  /** An event that a program of a copy wrote to standard error. */
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
      /** The run ended it. */
      readonly stopped: boolean;
      /** The reader of its output had closed that. */
      readonly consumerClosed: boolean;
    }
  /** A host is lost, and the others continue. */
  | { readonly kind: 'host_lost'; readonly host: string; readonly message: string }
  /** A host slows down its chain, because its command or disk is slow. */
  | { readonly kind: 'host_slow'; readonly host: string; readonly message: string }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'suspended' | 'resumed' }
  /** The output of ssh at a login: its log, such as a warning about the host's key, and the host's banner. */
  | { readonly kind: 'login_text'; readonly host: string; readonly log: string; readonly banner: string }
  /** A line about a step, for -vv. */
  | { readonly kind: 'log'; readonly message: string }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'finished'; readonly report: Report };

export type RunEventKind = RunEvent['kind'];
/** Takes the events of a run. Never throws. */
export type Emit = (event: RunEvent) => void;

/** Observes an examination or a measurement. Neither function throws. */
export interface Watcher {
  /** Takes a short phrase: `connecting to h1`. */
  readonly doing: (activity: string) => void;
  /** Takes the events of the sessions and of the runs that measure. */
  readonly emit: Emit;
}
