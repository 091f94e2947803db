import type { Pipeline, Stage, TreeStage } from '../../src/model/pipeline.ts';
import type { HopLink } from '../../src/model/plan.ts';
import type { AgentHello, HostAddress, RdmaPort } from '../../src/model/protocol.ts';
import type { TreeRole } from '../../src/model/tree.ts';
import { LOCAL, type PlanInput, type SessionFacts } from '../../src/plan/facts.ts';
import { DEFAULTS } from '../default-settings.ts';
import { parse } from '../parse/helpers.ts';

export function hello(machine: string, ssh: string | null): AgentHello {
  return {
    v: 1,
    version: '0.1.0',
    os: 'Linux',
    cpu: 'x86_64',
    boot_id: machine,
    net_ns: 4026531840,
    uid: 1000,
    user: 'ann',
    hostname: machine,
    pid: 123,
    ssh_connection: ssh,
    aes: true,
    memlock: null,
    seccomp: true,
    landlock: 7,
    rdma_lacks: null,
    addresses: [],
    rdma: [],
  };
}

/** Returns an interface's address: `nic('eth0', '10.0.0.1/24')`, 1 Gb/s and up. */
export function nic(name: string, address: string, changes: Partial<HostAddress> = {}): HostAddress {
  const [host = '', prefix] = address.split('/');
  const fast = { up: true, speed_mbps: 1000, kind: 'physical', mtu: 1500 } as const;
  return { address: host, prefix: Number(prefix), interface: name, ...fast, ...changes };
}

/** Returns an RDMA port that is up, RoCE v2 at 100 Gb/s. */
export function rdmaPort(device: string, name: string | null, changes: Partial<RdmaPort> = {}): RdmaPort {
  const fast = { state: 'active', rate_mbps: 100_000, link_layer: 'ethernet', mtu: 4096, numa: 0 } as const;
  return { device, port: 1, interface: name, gids: ['IB/RoCE v1', 'RoCE v2'], ...fast, ...changes };
}

export function withHello(session: SessionFacts, changes: Partial<AgentHello>): SessionFacts {
  return { ...session, hello: { ...session.hello, ...changes } };
}

const LOOPBACK = nic('lo', '127.0.0.1/8', { kind: 'loopback', speed_mbps: null });

function facts(id: string, label: string, machine: string, ssh: string | null, address: string): SessionFacts {
  const addresses = [LOOPBACK, nic('eth0', `${address}/24`)];
  return withHello({ id, label, hello: hello(machine, ssh), forwards: id !== LOCAL }, { addresses });
}

/** Two hosts on a network with this machine, and a third host that is this machine reached over ssh. */
export const SESSIONS = {
  local: facts(LOCAL, 'this machine', 'here', '192.0.2.77 999 192.0.2.78 22', '10.0.0.9'),
  h1: facts('1', 'h1', 'boot-1', '10.0.0.9 50112 10.0.0.1 22', '10.0.0.1'),
  h2: facts('2', 'h2', 'boot-2', '10.0.0.9 50114 10.0.0.2 22', '10.0.0.2'),
  self: facts('3', 'self', 'here', '127.0.0.1 50116 127.0.0.1 22', '10.0.0.9'),
} as const;

export type HostName = 'h1' | 'h2' | 'self';

/**
 * Returns the input for a copy: scan on h1, compare on h2, read on h1, write on h2; or other programs on these hosts.
 */
export function copyFor(
  programs: readonly (readonly [TreeRole, HostName])[] = FOUR_PROGRAMS,
  changes: Partial<PlanInput> = {},
): PlanInput {
  const stages = programs.map(([role, name], index) => treeStage(index + 1, name, role));
  const stageSessions = programs.map(([, name]) => SESSIONS[name].id);
  const pipeline = { stages } as unknown as Pipeline;
  return inputFor(['h1:true'], { pipeline, stageSessions, ...changes });
}

const FOUR_PROGRAMS = [
  ['scan', 'h1'],
  ['compare', 'h2'],
  ['read', 'h1'],
  ['write', 'h2'],
] as const;

export function treeStage(number: number, name: string, role: TreeRole): TreeStage {
  const host = { name, user: undefined, label: name };
  return { kind: 'tree', number, host, text: `${role} /data`, settings: { role, run: 'a-1' } };
}

/** Returns the input for stages on the hosts of SESSIONS; an empty host is this machine. */
export function inputFor(words: readonly string[], changes: Partial<PlanInput> = {}): PlanInput {
  const pipeline: Pipeline = parse(words);
  return {
    run: 'run-1',
    pipeline,
    settings: settingsWith({}),
    stageSessions: pipeline.stages.map((stage) => sessionFor(stage).id),
    sessions: new Map(Object.values(SESSIONS).map((session) => [session.id, session])),
    stdin: 'null',
    stdout: 'drop',
    ...changes,
  };
}

/** Returns the input for any hosts, each with its own address on a common network. */
export function wideInputFor(words: readonly string[], changes: Partial<PlanInput> = {}): PlanInput {
  const pipeline: Pipeline = parse(words);
  const names = [...new Set(pipeline.stages.map(({ host }) => host.name))];
  const hosts = names.map((name, index) => {
    const address = `10.1.${(index + 1) >> 8}.${(index + 1) & 255}`;
    const ssh = `10.0.0.9 50112 ${address} 22`;
    const addresses = [LOOPBACK, nic('eth0', `${address}/16`)];
    return withHello({ id: name, label: name, hello: hello(name, ssh), forwards: true }, { addresses });
  });
  return inputFor(['h1:true'], {
    pipeline,
    stageSessions: pipeline.stages.map(({ host }) => host.name),
    sessions: new Map([SESSIONS.local, ...hosts].map((session) => [session.id, session])),
    ...changes,
  });
}

export function settingsWith(changes: Partial<PlanInput['settings']>): PlanInput['settings'] {
  return { ...DEFAULTS, relay: 'never', ...changes };
}

/**
 * Formats candidates: `tcp sender address 10.0.0.2: ssh address`; `rdma sender address 10.1.0.2 from 10.1.0.1: mlx5_0,
 * RoCE v2`.
 */
export function ways({ candidates }: Pick<HopLink, 'candidates'>): readonly string[] {
  return candidates.map(({ transport, dialer, way, host, from, device, why }) => {
    const place = from === null ? host : `${host} from ${from}`;
    return `${transport} ${dialer} ${way} ${place}: ${device === null ? why : `${device}, ${why}`}`;
  });
}

/** Several addresses of a host are separated by commas. */
export function dataFor(entries: Readonly<Record<string, string>>, why = '--data'): PlanInput['settings']['data'] {
  const given = Object.entries(entries).map(([host, text]) => {
    const [address = '', ...others] = text.split(',');
    return [host, { address, others, why }] as const;
  });
  return { all: undefined, hosts: new Map(given) };
}

function sessionFor({ host }: Stage): SessionFacts {
  return host.name === '' ? SESSIONS.local : SESSIONS[host.name as HostName];
}
