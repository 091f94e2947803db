/** Counters of a hop's ends, and the waits of a whole hop or chain. */

/** Milliseconds waited, by cause. */
export interface Waits {
  readonly inputMs: number;
  /** Held back by `--limit`. */
  readonly limitMs: number;
  /** The threads that compress and encrypt, or decrypt and decompress. */
  readonly workerMs: number;
  readonly wireMs: number;
  readonly outputMs: number;
}

/** The limits that an end's connections over TCP have met; all zero over RDMA. */
export interface Limits {
  /** Its socket's send buffer was full of bytes that the peer had not acknowledged. */
  readonly sendBufferMs: number;
  readonly receiveWindowMs: number;
  /** Segments that were lost. */
  readonly sentAgain: number;
}

export interface Counters extends Waits, Limits {
  /** Bytes of the stream. */
  readonly bytes: number;
  /** Bytes that the stream took on the wire. */
  readonly wireBytes: number;
  /** The most TCP connections that a hop has used at the same time; 1 over RDMA, 0 before the first. */
  readonly streams: number;
  /** Shortest round trip; 0: none yet. */
  readonly rttUs: number;
}

export type WaitsFor = 'input' | 'limit' | 'worker' | 'wire' | 'output';

export const NO_WAITS: Waits = { inputMs: 0, limitMs: 0, workerMs: 0, wireMs: 0, outputMs: 0 };
export const NO_LIMITS: Limits = { sendBufferMs: 0, receiveWindowMs: 0, sentAgain: 0 };
export const NO_COUNTERS: Counters = { bytes: 0, wireBytes: 0, ...NO_WAITS, ...NO_LIMITS, streams: 0, rttUs: 0 };

/** The waits of one end since its report `before`. Hosts send these numbers: a decrease counts as 0. */
export function waitsSince(before: Waits, now: Waits): Waits {
  const more = (what: keyof Waits) => Math.max(0, now[what] - before[what]);
  return {
    inputMs: more('inputMs'),
    limitMs: more('limitMs'),
    workerMs: more('workerMs'),
    wireMs: more('wireMs'),
    outputMs: more('outputMs'),
  };
}

/**
 * The waits of a hop. The sender measures the waits before the wire, the receiver those after it. A sender also waits
 * for the wire while its receiver waits for output or workers: that time counts as theirs, not as the wire's.
 */
export function hopWaits(send: Waits, recv: Waits): Waits {
  const { inputMs, limitMs } = send;
  const { outputMs } = recv;
  const workerMs = Math.max(send.workerMs, recv.workerMs);
  const behindMs = outputMs + workerMs - send.workerMs;
  return { inputMs, limitMs, workerMs, wireMs: Math.max(0, send.wireMs - behindMs), outputMs };
}

/**
 * The waits of a chain's hops, first to last. A hop also waits for the wire while a later host waits for output,
 * workers or its own wire: that time counts there, not as this hop's wire.
 */
export function chainWaits(hops: readonly Waits[]): readonly Waits[] {
  let behindMs = 0;
  const fromLast = [...hops].reverse().map((waits) => {
    const wireMs = Math.max(0, waits.wireMs - behindMs);
    behindMs = Math.max(behindMs, wireMs + waits.outputMs + waits.workerMs);
    return { ...waits, wireMs };
  });
  return fromLast.reverse();
}

/** The longest wait; undefined if it is shorter than `leastMs`. */
export function longestWait(waits: Waits, leastMs: number): WaitsFor | undefined {
  const kinds = ['input', 'limit', 'worker', 'output', 'wire'] as const;
  const most = kinds.reduce((best, kind) => (waits[`${kind}Ms`] > waits[`${best}Ms`] ? kind : best));
  return waits[`${most}Ms`] >= leastMs ? most : undefined;
}
