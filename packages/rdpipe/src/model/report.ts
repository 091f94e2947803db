/** The report of a run, for the summary, the page and the last `--json` object. */
import type { Limits, Waits, WaitsFor } from './counters.ts';
import type { Cause } from './errors.ts';

export interface StageReport {
  readonly stage: number;
  /** The rank of the host, from 0, if the stage runs on several hosts. */
  readonly rank?: number;
  readonly host: string;
  readonly command: string;
  readonly state: 'succeeded' | 'failed' | 'stopped' | 'consumer_closed' | 'not_started';
  readonly code: number | null;
  readonly signal: number | null;
  readonly userMs: number;
  readonly systemMs: number;
  readonly maxRssKib: number;
}

/** The CPU time and memory of one rdsend or rdrecv. */
export interface ProgramUsage {
  readonly userMs: number;
  readonly systemMs: number;
  readonly maxRssKib: number;
}

/** The waits are those of the hop as a whole. */
export interface HopReport extends Waits, Limits {
  readonly link: number;
  /** With a stage on several hosts: the rank of the receiving host, or of the sending host if the receiver has none. */
  readonly rank?: number;
  /** The number of the first link of the hop's chain. */
  readonly chain?: number;
  readonly from: string;
  readonly to: string;
  /** `rdma`, `tcp`; `local` between two programs of one host. */
  readonly transport: string;
  readonly cipher: string;
  /** The versions of OpenSSL of sender and receiver, or the common one; empty: not connected. */
  readonly openssl: readonly string[];
  /** The plan's reason: `tcp (no RDMA device on h2), encrypted (leaves the machine)`; null within one host. */
  readonly why: string | null;
  /** Over RDMA, the devices of sender and receiver, `mlx5_0`; otherwise empty. */
  readonly devices: readonly string[];
  /** The NUMA nodes to which sender and receiver moved their threads and memory; null: not moved. */
  readonly numa: readonly [number | null, number | null];
  /** The sender's address, and the receiver's as the sender sees it; null: not connected, or within one host. */
  readonly local: string | null;
  readonly peer: string | null;
  /** Shortest round trip of a message in microseconds; null: none was measured. */
  readonly rttUs: number | null;
  /** How often the connection broke and the stream resumed over a new one. */
  readonly reconnects: number;
  readonly result: 'delivered' | 'closed' | 'aborted' | 'failed' | 'not_connected';
  readonly bytes: number;
  readonly seconds: number;
  /** Level of zstd; 0: not compressed. */
  readonly compress: number;
  /** The most TCP connections that were used at the same time; 1 over RDMA, 0 if none was made. */
  readonly streams: number;
  /** Bytes on the wire, with headers, tags and retransmissions. */
  readonly wireBytes: number;
  readonly bytesPerSecond: number;
  /** The longest wait: for the producer, the limit, the workers, the network or the consumer. */
  readonly bottleneck: WaitsFor | 'none';
  /** Null: not reported. */
  readonly sender: ProgramUsage | null;
  readonly receiver: ProgramUsage | null;
  /** Candidates that were tried and refused, with reasons; and a forward through ssh, if one was needed. */
  readonly notes: readonly string[];
  /** Requests that the ends could meet only in part: `h2: buffer of 8.0 MiB shrunk to 3.9 MiB …`. */
  readonly warnings: readonly string[];
}

/** A path that was not copied or deleted. */
export interface FailedPath {
  readonly path: string;
  readonly message: string;
  readonly host: string;
}

/** A path that took long. */
export interface SlowPath {
  readonly path: string;
  readonly bytes: number;
  readonly ms: number;
  readonly host: string;
}

/** The first bytes of a file that the next copy does not need again. */
export interface KeptPart {
  readonly path: string;
  readonly bytes: number;
  readonly host: string;
}

/** The result of a copy on one host of several. */
export interface CopyHost {
  readonly host: string;
  readonly files: number;
  readonly bytes: number;
  readonly same: number;
  readonly removed: number;
  readonly failed: number;
}

/** The result of a copy; sums are the last that its programs reported. */
export interface CopyReport {
  /** The hosts of a target on several, in order. All sums below, except `found`, are over all hosts. */
  readonly hosts?: readonly CopyHost[];
  /** Entries of the source: files, directories and all others. */
  readonly found: number;
  /** Files written to the target and permanent there. */
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  readonly bytes: number;
  /** Entries that the target already had, and files whose contents it already had. */
  readonly same: number;
  readonly sameFiles: number;
  readonly sameBytes: number;
  /** The hop that carried contents; null: both sides are on one host, or nothing was to be copied. */
  readonly link: number | null;
  readonly removed: number;
  /** The number of paths that were not copied or deleted, and the first 100 of them. */
  readonly failed: number;
  readonly failures: readonly FailedPath[];
  /** Bytes of contents that were sent, and bytes left by an interrupted copy. */
  readonly sentBytes: number;
  readonly resumedBytes: number;
  /** Entries whose owner could not be set. */
  readonly ownersRefused: number;
  /** At most 10 each, the slowest first. */
  readonly slowestFiles: readonly SlowPath[];
  readonly slowestDirectories: readonly SlowPath[];
  readonly warnings: readonly { readonly host: string; readonly message: string }[];
  /** With --no-sync: the kernel writes it to disk later. Absent: it is on disk. */
  readonly unsynced?: true;
  /** Absent: the copy was not interrupted. */
  readonly kept?: readonly KeptPart[];
}

/** A lost host, without which the run continued. */
export interface LostHost {
  readonly host: string;
  /** One line: the reason. */
  readonly message: string;
}

export interface Report {
  readonly v: 1;
  readonly run: string;
  readonly status: number;
  readonly cause: Cause | null;
  /** The stage that is the first cause, or whose file or command could not be opened or started; null: none. */
  readonly causeStage: number | null;
  /** The rank of its host, if the stage runs on several; absent: it does not, or there is none. */
  readonly causeRank?: number;
  /** The one line of the failure, or null. */
  readonly message: string | null;
  readonly seconds: number;
  readonly stages: readonly StageReport[];
  readonly hops: readonly HopReport[];
  /** Lost hosts that --require tolerated; absent: none. */
  readonly lost?: readonly LostHost[];
  /** Absent: the run is not a copy. */
  readonly copy?: CopyReport;
  readonly leftBehind: readonly { readonly host: string; readonly pid: number; readonly command: string }[];
}
