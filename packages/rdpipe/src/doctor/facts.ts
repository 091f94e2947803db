/** The facts of a host that the checks judge. Pure data. */
import type { SessionErrorCode } from '../model/errors.ts';
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
  readonly label: string;
  /** The way there where it is not ssh: `slurm`, `podman`, the first word of a template. */
  readonly launcher?: string | undefined;
  /** The facts from here on are known only of a host that was reached. */
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
  /** `dynamic`: rdsend and rdrecv may use the host's libraries. */
  readonly programs: 'dynamic' | 'static' | null;
  readonly pipeMostBytes: number | null;
  /** Pages that one user's pipes may hold in all before new ones are small; 0: no limit. */
  readonly pipeUserPages: number | null;
  /** By name; `all` counts for every interface. */
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

/** Where the agent is kept first. */
export interface CacheFacts {
  readonly directory: string;
  readonly mountPoint: string;
  readonly freeKib: number;
  readonly noexec: boolean;
}

/** The requirements to check for. */
export interface Requirements {
  readonly transport: Settings['transport'];
  readonly bufferBytes: number;
}

export function isTrouble<Known extends object>(facts: Known | Trouble | undefined): facts is Trouble {
  return facts !== undefined && 'message' in facts;
}

/** The facts where they are known. */
export function known<Known extends object>(facts: Known | Trouble | undefined): Known | undefined {
  return facts === undefined || isTrouble(facts) ? undefined : (facts as Known);
}
