/** The result of `rdpipe bench`: every path between two hosts with its samples; `--json` prints it. */

/** `tcp`: plain. `ssh`: one connection of ssh, as a user without rdpipe would. */
export type MethodName = 'rdma' | 'tcp' | 'tcp encrypted' | 'ssh';

/** One stream from the first host to the second. */
export interface Sample {
  readonly bytes: number;
  readonly seconds: number;
  readonly bytesPerSecond: number;
  /** CPU seconds of everything that the stream took at each end; null: the host does not report them. */
  readonly fromCpuS: number | null;
  readonly toCpuS: number | null;
  /** Shortest round trip of a message; of ssh, what `ssh HOST true` takes. Null: not measured. */
  readonly roundTripUs: number | null;
  /** A line to the second host and back, through commands; null: not measured, as for ssh. */
  readonly pingPongUs: number | null;
}

export interface MethodResult {
  readonly way: MethodName;
  /** For people: `rdma rxe0 authenticated`, `through this machine: h1 cannot log in to h2`. */
  readonly carrier: string;
  /** One a round. */
  readonly samples: readonly Sample[];
}

/** A method that could not be measured. */
export interface MissingMethod {
  readonly way: MethodName;
  readonly why: string;
  /** It should have worked. */
  readonly failed: boolean;
}

export interface Benchmark {
  readonly v: 1;
  /** 125 when a way failed that should have worked. */
  readonly status: 0 | 125;
  readonly from: string;
  readonly to: string;
  readonly rounds: number;
  readonly ways: readonly MethodResult[];
  readonly missing: readonly MissingMethod[];
}
