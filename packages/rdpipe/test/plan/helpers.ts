import type { Pipeline, Stage } from '../../src/model/pipeline.ts';
import type { AgentHello } from '../../src/model/protocol.ts';
import { LOCAL, type PlanInput, type SessionFacts } from '../../src/plan/facts.ts';
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
    rdma_lacks: null,
    addresses: [],
    rdma: [],
  };
}

function facts(id: string, label: string, machine: string, ssh: string | null): SessionFacts {
  return { id, label, hello: hello(machine, ssh) };
}

/** Two hosts on a network with this machine, a third one that stands for this machine reached by ssh. */
export const SESSIONS = {
  local: facts(LOCAL, 'this machine', 'here', '192.0.2.77 999 192.0.2.78 22'),
  h1: facts('1', 'h1', 'boot-1', '10.0.0.9 50112 10.0.0.1 22'),
  h2: facts('2', 'h2', 'boot-2', '10.0.0.9 50114 10.0.0.2 22'),
  self: facts('3', 'self', 'here', '127.0.0.1 50116 127.0.0.1 22'),
} as const;

export type HostName = 'h1' | 'h2' | 'self';

/** A plan's input for stages on hosts named as above; an empty host is this machine. */
export function inputFor(words: readonly string[], changes: Partial<PlanInput> = {}): PlanInput {
  const pipeline: Pipeline = parse(words);
  return {
    run: 'run-1',
    pipeline,
    settings: { ports: [0, 0], data: { all: undefined, hosts: new Map() }, encrypt: 'auto', bufferBytes: 8388608 },
    stageSessions: pipeline.stages.map((stage) => sessionFor(stage).id),
    sessions: new Map(Object.values(SESSIONS).map((session) => [session.id, session])),
    stdin: 'null',
    stdout: 'drop',
    localAddresses: ['127.0.0.1', '10.0.0.9', '::1'],
    ...changes,
  };
}

export function dataFor(entries: Readonly<Record<string, string>>, why = '--data'): PlanInput['settings']['data'] {
  return { all: undefined, hosts: new Map(Object.entries(entries).map(([host, address]) => [host, { address, why }])) };
}

function sessionFor({ host }: Stage): SessionFacts {
  return host.name === '' ? SESSIONS.local : SESSIONS[host.name as HostName];
}
