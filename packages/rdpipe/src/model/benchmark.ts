/** The result of `rdpipe bench`: each method between two hosts with its samples; `--json` prints it. */

/** `tcp`: unencrypted. `ssh`: one ssh connection, as a user without rdpipe would use. */
export type MethodName = 'rdma' | 'tcp' | 'tcp encrypted' | 'ssh';

/** One stream from the first host to the second. */
export interface Sample {
  readonly bytes: number;
  readonly seconds: number;
  readonly bytesPerSecond: number;
  /** CPU seconds of all processes that carried the stream at each end; null: the host does not report them. */
  readonly fromCpuS: number | null;
  readonly toCpuS: number | null;
  /** Shortest round trip of a message; for ssh, the time of `ssh HOST true`. Null: not measured. */
  readonly roundTripUs: number | null;
  /** Round trip of a line between commands on the two hosts; null: not measured, as for ssh. */
  readonly pingPongUs: number | null;
}

export interface MethodResult {
  readonly method: MethodName;
  /** For people: `rdma rxe0 authenticated`, `through this machine: h1 cannot log in to h2`. */
  readonly carrier: string;
  /** One per round. */
  readonly samples: readonly Sample[];
}

/** A method that could not be measured. */
export interface MissingMethod {
  readonly method: MethodName;
  readonly why: string;
  /** True if the method should have worked. */
  readonly failed: boolean;
}

export interface Benchmark {
  readonly v: 1;
  /** The exit status: 125 if a method failed that should have worked, or the page could not be written. */
  readonly status: 0 | 125;
  readonly from: string;
  readonly to: string;
  readonly rounds: number;
  readonly methods: readonly MethodResult[];
  readonly missing: readonly MissingMethod[];
}
