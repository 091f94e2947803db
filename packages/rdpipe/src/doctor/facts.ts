/** The facts about a host on which the checks are based. Pure data. */
import type { SessionErrorCode } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import type { AgentHello } from '../model/protocol.ts';
import type { Settings } from '../model/settings.ts';
import type { HostSession } from '../session/host-session.ts';

/** An operation that failed, with rdpipe's message. */
export interface Trouble {
  /** Undefined: a failure of another kind. */
  readonly code: SessionErrorCode | undefined;
  readonly message: string;
}

export interface HostFacts {
  readonly host: HostRef;
  readonly label: string;
  /** The launcher, if it is not ssh: `slurm`, `podman`, the first word of a template. */
  readonly launcher?: string | undefined;
  /** All facts that follow are known only if the host was reached. */
  readonly ssh: (Pick<HostSession, 'took'> & { readonly client: HostSession['kind'] }) | Trouble;
  readonly session: SessionId | undefined;
  readonly hello: AgentHello | Trouble | undefined;
  /** The time from the login shell's start to the agent's hello. */
  readonly agentStartMs: number | undefined;
  readonly system: SystemFacts | Trouble | undefined;
}

/** Facts that the hello lacks; null: unknown. */
export interface SystemFacts {
  readonly agentDirectory: string | null;
  /** `dynamic`: hops over RDMA use the host's libraries. */
  readonly programs: 'dynamic' | 'static' | null;
  /** The version of the OpenSSL of hops over TCP: `3.5.9`. */
  readonly openssl: string | null;
  /** The CPU has AES instructions for four blocks at a time, which OpenSSL uses since 3.1. */
  readonly wideAes: boolean;
  readonly pipeMostBytes: number | null;
  /** Total pages of one user's pipes, above which new pipes are small; 0: no limit. */
  readonly pipeUserPages: number | null;
  /** The most that the kernel lets the send buffer of a TCP connection grow. */
  readonly sendBufferBytes: number | null;
  /** By name; `all` applies to every interface. */
  readonly interfaces: ReadonlyMap<string, InterfaceSettings>;
  readonly cache: CacheFacts | null;
  /** The result of `sudo -n true`; null: not run. */
  readonly sudo: { readonly ok: boolean; readonly words: string } | null;
}

/** From /proc/sys/net/ipv4/conf. */
export interface InterfaceSettings {
  readonly arpIgnore: number;
  readonly arpAnnounce: number;
  readonly rpFilter: number;
}

/** The first choice of directory for the agent. */
export interface CacheFacts {
  readonly directory: string;
  readonly mountPoint: string;
  readonly freeKib: number;
  readonly noexec: boolean;
}

/** The requirements of the user's settings. */
export interface Requirements {
  readonly transport: Settings['transport'];
  readonly bufferBytes: number;
}

/** True if the facts are unknown because of an error. */
export function isTrouble<Known extends object>(facts: Known | Trouble | undefined): facts is Trouble {
  return facts !== undefined && 'message' in facts;
}

/** The facts; undefined if they are unknown. */
export function known<Known extends object>(facts: Known | Trouble | undefined): Known | undefined {
  return facts === undefined || isTrouble(facts) ? undefined : (facts as Known);
}
