/** The report of a run, for the summary, the page and the last `--json` object. */
import type { Waits, WaitsFor } from './counters.ts';
import type { Cause } from './errors.ts';

export interface StageReport {
  readonly stage: number;
  /** Of its host, from 0, where the stage stands on several. */
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

/** Its waits are those of the hop as a whole. */
export interface HopReport extends Waits {
  readonly link: number;
  /** Of a stage on several hosts: of the host that receives, or of the one that sends to a single one. */
  readonly rank?: number;
  /** The number of the first link of its chain. */
  readonly chain?: number;
  readonly from: string;
  readonly to: string;
  /** `rdma`, `tcp`; `local` between two programs of one host. */
  readonly transport: string;
  readonly cipher: string;
  /** Of the plan: `tcp (no RDMA device on h2), encrypted (leaves the machine)`; null within one host. */
  readonly why: string | null;
  /** Of RDMA: the sender's and the receiver's, `mlx5_0`. Else empty. */
  readonly devices: readonly string[];
  /** The nodes that the sender and the receiver went to with their threads and memory; null: it stayed where it was. */
  readonly numa: readonly [number | null, number | null];
  /** The sender's address, and the receiver's as the sender sees it; null: not connected, or within one host. */
  readonly local: string | null;
  readonly peer: string | null;
  /** Shortest round trip of a message in microseconds; null: none was measured. */
  readonly rttUs: number | null;
  /** How often the connection broke and the stream went on over a new one. */
  readonly reconnects: number;
  readonly result: 'delivered' | 'closed' | 'aborted' | 'failed' | 'not_connected';
  readonly bytes: number;
  readonly seconds: number;
  /** Level of zstd; 0: not compressed. */
  readonly compress: number;
  /** The bytes on the wire: with headers, tags and retransmissions. */
  readonly wireBytes: number;
  readonly bytesPerSecond: number;
  /** The longest wait: its producer, its limit, its workers, the network, its consumer. */
  readonly bottleneck: WaitsFor | 'none';
  /** Null: not reported. */
  readonly sender: ProgramUsage | null;
  readonly receiver: ProgramUsage | null;
  /** Ways that were tried and refused, with reasons; and a forward through ssh, where one was needed. */
  readonly notes: readonly string[];
  /** Requests that its ends could only partly meet: `h2: buffer of 8.0 MiB shrunk to 3.9 MiB …`. */
  readonly warnings: readonly string[];
}

/** A path that was not copied. */
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

/** The result of a copy on one host of several. */
export interface CopyHost {
  readonly host: string;
  readonly files: number;
  readonly bytes: number;
  readonly same: number;
  readonly removed: number;
  readonly failed: number;
}

/** The result of a copy; sums are those that its programs reported last. */
export interface CopyReport {
  /** Of a target on several hosts, in order. All other sums but `found` are of all of them. */
  readonly hosts?: readonly CopyHost[];
  /** Entries of the source: files, directories and all others. */
  readonly found: number;
  /** Written to the target and permanent there. */
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  readonly bytes: number;
  /** Entries that the target had already, and the files whose contents it had. */
  readonly same: number;
  readonly sameFiles: number;
  readonly sameBytes: number;
  /** The hop that carried contents; null: both sides are on one host, or nothing was to be copied. */
  readonly link: number | null;
  readonly removed: number;
  /** Paths that were not copied, and the first 100 of them. */
  readonly failed: number;
  readonly failures: readonly FailedPath[];
  /** Of the contents that were sent, and of those that an interrupted copy had left. */
  readonly sentBytes: number;
  readonly resumedBytes: number;
  /** Entries whose owner could not be set. */
  readonly ownersRefused: number;
  /** At most 10 each, the slowest first. */
  readonly slowestFiles: readonly SlowPath[];
  readonly slowestDirectories: readonly SlowPath[];
  readonly warnings: readonly { readonly host: string; readonly message: string }[];
}

/** A host that the run did without. */
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
  /** The stage that is the first cause, or whose file or command could not be opened or started; null: none is. */
  readonly causeStage: number | null;
  /** The one line of the failure, or null. */
  readonly message: string | null;
  readonly seconds: number;
  readonly stages: readonly StageReport[];
  readonly hops: readonly HopReport[];
  /** Hosts that the run did without, as --require allowed it; absent: none. */
  readonly lost?: readonly LostHost[];
  /** Of a copy. */
  readonly copy?: CopyReport;
  readonly leftBehind: readonly { readonly host: string; readonly pid: number; readonly command: string }[];
}
