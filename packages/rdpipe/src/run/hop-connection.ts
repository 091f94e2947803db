/** A hop being connected: the candidates that were tried, why some were refused, and both ends. */
import type { Candidate, DialAddress, HopLink } from '../model/plan.ts';
import type { HopEnd, NativeCode } from '../model/protocol.ts';
import type { Connected } from './state.ts';

export interface HopConnection {
  readonly hop: HopLink;
  readonly attempts: readonly Attempt[];
  readonly ends: Readonly<Record<HopEnd, Connected>>;
}

/** A candidate that is being tried, and its result. */
export interface Attempt {
  readonly candidate: Candidate;
  address: DialAddress | undefined;
  refusal: Refusal | undefined;
}

/** Candidates that were refused together share one object. */
export interface Refusal {
  readonly code: NativeCode;
  readonly message: string;
}
