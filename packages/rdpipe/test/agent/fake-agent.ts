/** Agents for tests: small shell scripts that receive their nonce like a real agent. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentHello } from '../../src/model/protocol.ts';

export const HELLO: AgentHello = {
  v: 1,
  version: '0.1.0',
  os: 'Linux',
  cpu: 'x86_64',
  boot_id: '0c3f3c1b-0000-0000-0000-000000000000',
  net_ns: 4026531840,
  uid: 1000,
  user: 'ann',
  hostname: 'h1',
  pid: 123,
  ssh_connection: null,
  aes: true,
  memlock: null,
  seccomp: true,
  landlock: 7,
  rdma_lacks: null,
  addresses: [],
  rdma: [],
};

/** The script may use `hello`, which prints the first line, and `say MESSAGE`. */
export function writeFakeAgent(directory: string, script: string, hello: object = HELLO, protocol = 1): string {
  const path = join(directory, 'agent');
  const lines = [
    '#!/bin/sh',
    'nonce=$3',
    `hello() { printf 'rdstage/${protocol} %s %s\\n' "$nonce" '${JSON.stringify(hello)}'; }`,
    `say() { printf '%s\\n' "$1"; }`,
    script,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}
