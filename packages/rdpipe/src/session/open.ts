/** Opens the sessions to all hosts of a pipeline. */
import { setImmediate } from 'node:timers/promises';
import { SessionError } from '../model/errors.ts';
import { type HostRef, THIS_MACHINE } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import { anySignal } from './abort.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { destinationOf } from './destination.ts';
import type { HostSession } from './host-session.ts';
import { createLauncherSessions, type LauncherSessions, launcherOf } from './launcher/sessions.ts';
import { createLocalSession } from './local.ts';
import { createConfigReader } from './openssh/config-reader.ts';
import type { MasterContext } from './openssh/master.ts';
import type { SshProgram } from './openssh/program.ts';
import { connectOpenssh, type OpensshSession } from './openssh/session.ts';
import { makePrivateDir } from './private-dir.ts';
import { createPrompter } from './prompts/prompter.ts';
import type { Terminal } from './prompts/terminal.ts';
import { type ConfigReader, resolveTarget, type Target } from './resolve.ts';
import { createServedSessions, isServed, type ServedSessions } from './served.ts';
import { createSessionPool, type SessionPool } from './session-pool.ts';
import type { SessionSettings } from './settings.ts';
import { readPlainConfig } from './ssh2/config-file.ts';
import type { Ssh2Session } from './ssh2/session.ts';

export interface Sessions {
  /** By ID, in the order in which the hosts appear: `1`, `2`, …, and `local`. */
  readonly all: ReadonlyMap<SessionId, HostSession>;
  /** Returns the host's ID. Hosts that ssh resolves to the same user, address, port and jump host share one. */
  idOf(host: HostRef): SessionId;
  /** Closes every session and removes their files on this machine. Takes a bounded time. Idempotent. */
  close(): Promise<void>;
}

const LOCAL: SessionId = 'local';

/**
 * Called for each session as soon as it is open, while others are still being opened. `host` is the first of its names.
 */
export type OnOpen = (opened: Opened, signal: AbortSignal) => Promise<unknown>;

/**
 * Decides about a host that cannot be used, given by all its names: returns undefined to continue without it, or the
 * error that ends the others.
 */
export type Excuse = (names: readonly HostRef[], error: unknown) => unknown;

export interface Opened {
  readonly id: SessionId;
  readonly host: HostRef;
  readonly session: HostSession;
}

/**
 * Opens all sessions in parallel, each jump host once and first. The first failure that `excuse` does not accept,
 * including a failure of `onOpen`, ends the others. Questions go to the terminal; without a terminal, ssh runs in batch
 * mode.
 * @throws SessionError of the first host that failed; the signal's reason.
 */
export async function openSessions(
  hosts: readonly HostRef[],
  settings: SessionSettings,
  terminal: Terminal | undefined,
  onOpen: OnOpen = async () => {},
  excuse: Excuse = (_, error) => error,
): Promise<Sessions> {
  const failed = new AbortController();
  const signal = anySignal(settings.signal, failed.signal);
  const remote = hosts.filter((host) => isBySsh(host, settings));
  const limit = createConcurrencyLimit(settings.connects);
  const resolving = resolveEach(remote, { ...settings, signal });
  await setImmediate(); // ssh starts before the programs that are needed later
  const opening = await beginOpening(hosts, { ...settings, signal }, terminal, limit).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  const begun: Promise<unknown>[] = [];
  const use: OnOpen = (opened) => {
    const using = onOpen(opened, signal);
    begun.push(using);
    return using;
  };
  try {
    const local = hosts.some(({ name }) => name === '') ? openLocal(resolving, opening, use) : undefined;
    local?.catch((error: unknown) => failed.abort(error));
    const connected = await connectAll(hosts, await connectResolved(resolving, opening), opening, use, excuse);
    const all = new Map([...connected.all, ...(local === undefined ? [] : [[LOCAL, await local] as const])]);
    return { ...connected, all, close: opening.close };
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(begun);
    await opening.close();
    throw settings.signal.aborted ? settings.signal.reason : error;
  }
}

/** The result for one host; its failure does not end the others. */
export interface Attempt {
  readonly host: HostRef;
  readonly outcome: HostSession | Error;
}

export interface TriedSessions extends Sessions {
  /** In the order of the hosts. `all` and `idOf` contain only the hosts that were reached. */
  readonly attempts: readonly Attempt[];
}

/**
 * Opens sessions like `openSessions`, but tries every host.
 * @throws the signal's reason.
 */
export async function trySessions(
  hosts: readonly HostRef[],
  settings: SessionSettings,
  terminal: Terminal | undefined,
): Promise<TriedSessions> {
  const opening = await beginOpening(hosts, settings, terminal, createConcurrencyLimit(settings.connects));
  try {
    const readConfig = createReader(hosts, settings);
    const tries = await Promise.all(hosts.map((host) => tryHost(host, opening, readConfig)));
    settings.signal.throwIfAborted();
    return { ...reached(tries), attempts: tries, close: opening.close };
  } catch (error) {
    await opening.close();
    throw error;
  }
}

/** Shared by all connections that are being opened. */
interface Opening {
  readonly settings: SessionSettings;
  readonly pool: SessionPool;
  readonly local: HostSession;
  readonly served: ServedSessions;
  readonly launched: LauncherSessions;
  readonly close: () => Promise<void>;
}

async function beginOpening(
  hosts: readonly HostRef[],
  settings: SessionSettings,
  terminal: Terminal | undefined,
  limit: ConcurrencyLimit,
): Promise<Opening> {
  const ssh = chooseSsh(settings);
  const dir = makePrivateDir();
  const prompter = await createPrompter({ ...settings, dir, terminal }).catch(async (error: unknown) => {
    await dir.remove();
    throw error;
  });
  const pool = createPool({ settings, dir, prompter, limit }, ssh);
  const local = createLocalSession(settings.localAgent);
  const served = createServedSessions(settings);
  const launched = createLauncherSessions(hosts, settings, limit);
  const close = async () => {
    prompter.close();
    await Promise.all([pool.close(), served.close(), launched.close(), local.close()]);
    await dir.remove();
  };
  return { settings, pool, local, served, launched, close };
}

/** Returns the system's ssh if it exists and no other client is requested; undefined for ssh2. */
function chooseSsh({ client, ssh }: SessionSettings): SshProgram | undefined {
  if (client === 'openssh' && ssh === undefined) {
    throw new SessionError(
      'unreachable',
      'this machine',
      'ssh is not installed on this machine (use --ssh ssh2, which does not need it)',
    );
  }
  return client === 'ssh2' ? undefined : ssh;
}

/** Loads ssh2 only if it is used. */
function createPool(context: Omit<MasterContext, 'ssh'>, ssh: SshProgram | undefined): SessionPool {
  if (ssh !== undefined) {
    return createSessionPool<OpensshSession>((target, via) => connectOpenssh(target, via, { ...context, ssh }));
  }
  return createSessionPool<Ssh2Session>(async (target, via) => {
    const { connectSsh2 } = await import('./ssh2/session.ts');
    return connectSsh2(target, via, context);
  });
}

async function connectAll(
  hosts: readonly HostRef[],
  targets: ReadonlyMap<string, Target>,
  { pool, served, launched, settings }: Opening,
  onOpen: OnOpen,
  excuse: Excuse,
): Promise<Omit<Sessions, 'close'>> {
  const remote = hosts.filter((host) => host.name !== '');
  const identityOf = (host: HostRef) => (isBySsh(host, settings) ? targets.get(keyOf(host))?.identity : keyOf(host));
  const idByIdentity = numberIdentities(remote.map(identityOf));
  const idOf = (host: HostRef): SessionId => {
    const id = host.name === '' ? LOCAL : idByIdentity.get(identityOf(host) ?? '');
    if (id === undefined) throw new Error(`no session was asked for: ${host.label}`);
    return id;
  };
  const connect = (host: HostRef): Promise<HostSession> => {
    if (isServed(host)) return served.connect(host);
    return isBySsh(host, settings) ? pool.connect(targets.get(keyOf(host)) as Target) : launched.connect(host);
  };
  const excused = new Set<SessionId>();
  const lose = (id: SessionId, names: Names, error: unknown) => {
    if (excused.has(id)) return;
    const failure = settings.signal.aborted ? error : excuse(names, error);
    if (failure !== undefined) throw failure;
    excused.add(id);
  };
  const open = async ([id, names]: readonly [SessionId, Names]) => {
    try {
      const session = await connect(names[0]);
      await onOpen({ id, host: names[0], session }, settings.signal);
      return [[id, session] as const];
    } catch (error) {
      lose(id, names, error);
      return [];
    }
  };
  const watch = async ([id, names]: readonly [SessionId, Names]) => {
    lose(id, names, await lossOf(connect(names[0])));
    return NEVER;
  };
  // One per session: the first of a host's names counts.
  const wanted = [...namesById(remote, idOf)];
  const opened = await Promise.race([Promise.all(wanted.map(open)), ...wanted.map(watch)]);
  return { all: new Map(opened.flat().filter(([id]) => !excused.has(id))), idOf };
}

/** The names of one host, in the order in which they were written. */
type Names = readonly [HostRef, ...HostRef[]];

/** Returns the names of each session's host, in the order in which the sessions first appear. */
export function namesById(hosts: readonly HostRef[], idOf: Sessions['idOf']): ReadonlyMap<SessionId, Names> {
  const names = new Map<SessionId, [HostRef, ...HostRef[]]>();
  for (const host of hosts) {
    const known = names.get(idOf(host));
    if (known === undefined) names.set(idOf(host), [host]);
    else known.push(host);
  }
  return names;
}

/** Begins when the logins have begun, which take longer: node starts one program at a time. */
async function openLocal(
  resolving: ReadonlyMap<string, Promise<Target>>,
  { local, settings }: Opening,
  onOpen: OnOpen,
): Promise<HostSession> {
  await Promise.allSettled(resolving.values());
  await setImmediate();
  await onOpen({ id: LOCAL, host: THIS_MACHINE, session: local }, settings.signal);
  return local;
}

/** Begins to resolve each host as ssh does, by `keyOf`. */
function resolveEach(hosts: readonly HostRef[], settings: SessionSettings): ReadonlyMap<string, Promise<Target>> {
  const written = new Map(hosts.map((host) => [keyOf(host), host]));
  const readConfig = createReader([...written.values()], settings);
  const resolving = new Map([...written].map(([key, host]) => [key, resolveHost(host, readConfig, settings)]));
  for (const target of resolving.values()) target.catch(() => {}); // a failure on this machine is reported first
  return resolving;
}

function createReader(hosts: readonly HostRef[], settings: SessionSettings): ConfigReader {
  const { ssh, connects, signal } = settings;
  if (ssh === undefined) return readPlainConfig;
  const destinations = hosts.filter((host) => isBySsh(host, settings)).map((host) => destinationOf(host, settings));
  return createConfigReader(ssh, destinations, connects, signal);
}

/** Begins to connect each host while ssh resolves the others. Returns all when the last one is resolved. */
async function connectResolved(
  resolving: ReadonlyMap<string, Promise<Target>>,
  { pool, settings }: Opening,
): Promise<ReadonlyMap<string, Target>> {
  const begin = async ([key, resolved]: readonly [string, Promise<Target>]): Promise<readonly [string, Target]> => {
    const target = await resolved;
    settings.signal.throwIfAborted();
    pool.connect(target).catch(() => {}); // reported when the host is used
    return [key, target];
  };
  return new Map(await Promise.all([...resolving].map(begin)));
}

async function resolveHost(host: HostRef, readConfig: ConfigReader, settings: SessionSettings): Promise<Target> {
  const target = await resolveTarget(destinationOf(host, settings), readConfig, settings.signal);
  settings.checkConfig?.(target.config);
  return target;
}

function numberIdentities(identities: readonly (string | undefined)[]): Map<string, SessionId> {
  const known = new Set(identities.map((identity) => identity ?? ''));
  return new Map([...known].map((identity, index) => [identity, String(index + 1)]));
}

/**
 * Resolves with the reason if a session is lost while others are being opened; never resolves for a session that was
 * closed or never open.
 */
async function lossOf(connecting: Promise<HostSession>): Promise<Error> {
  const session = await connecting.catch(() => NEVER);
  await session.ended;
  return session.failure() ?? NEVER;
}

const NEVER = new Promise<never>(() => {});

interface Tried extends Attempt {
  readonly identity: string;
}

async function tryHost(
  host: HostRef,
  { settings, pool, local, launched }: Opening,
  readConfig: ConfigReader,
): Promise<Tried> {
  const tried = (outcome: HostSession | Error, identity: string): Tried => ({ host, outcome, identity });
  if (host.name === '') return tried(local, LOCAL);
  try {
    if (!isBySsh(host, settings)) return tried(await launched.connect(host), keyOf(host));
    const target = await resolveHost(host, readConfig, settings);
    return tried(await pool.connect(target), target.identity);
  } catch (error) {
    return tried(error instanceof Error ? error : new Error(String(error)), '');
  }
}

function reached(tries: readonly Tried[]): Omit<Sessions, 'close'> {
  const open = tries.filter(({ outcome }) => !(outcome instanceof Error));
  const remote = new Set(open.map(({ identity }) => identity).filter((identity) => identity !== LOCAL));
  const ids = new Map([
    [LOCAL, LOCAL],
    ...[...remote].map((identity, index) => [identity, String(index + 1)] as const),
  ]);
  const idOf = (host: HostRef): SessionId => {
    const found = open.find((tried) => keyOf(tried.host) === keyOf(host));
    const id = found && ids.get(found.identity);
    if (id === undefined) throw new Error(`no session is open: ${host.label}`);
    return id;
  };
  const all = tries.flatMap(({ host, outcome }) =>
    outcome instanceof Error ? [] : ([[idOf(host), outcome]] as const),
  );
  return { all: new Map(all), idOf };
}

function keyOf(host: HostRef): string {
  return JSON.stringify([host.user, host.name, host.served?.port]);
}

function isBySsh(host: HostRef, settings: SessionSettings): boolean {
  return host.name !== '' && !isServed(host) && launcherOf(host, settings).kind === 'ssh';
}
