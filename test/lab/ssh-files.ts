// SPDX-License-Identifier: Apache-2.0
// Creates keys and the ssh configuration of a lab.
// Its hosts are h1 …, h1v6 … (IPv6) and ann1 … (a user with a memlock limit).
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { address6Of, addressOf } from './network.ts';
import type { Place } from './place.ts';

export function configFileIn(directory: string): string {
  return join(directory, 'ssh_config');
}

/** An ssh command with one persistent connection per host: a new connection takes half a second. */
export function lastingSsh({ directory }: Place): readonly string[] {
  const lasting = ['ControlMaster=auto', `ControlPath=${join(directory, '%n.mux')}`, 'ControlPersist=yes'];
  return ['ssh', '-F', configFileIn(directory), ...lasting.flatMap((option) => ['-o', option])];
}

export function makeSshFiles(directory: string, hosts: number): void {
  for (const name of ['key', 'host_key'])
    execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rdpipe-lab', '-f', join(directory, name)]);
  copyFileSync(join(directory, 'key.pub'), join(directory, 'authorized_keys'));
  const numbers = Array.from({ length: hosts }, (_, index) => index + 1);
  const addresses = numbers.flatMap((number) => [addressOf(number), address6Of(number)]);
  const hostKey = readFileSync(join(directory, 'host_key.pub'), 'utf8');
  writeFileSync(join(directory, 'known_hosts'), `${addresses.join(',')} ${hostKey}`);
  writeFileSync(configFileIn(directory), `${[...numbers.flatMap(hostBlocks), ...common(directory)].join('\n')}\n`);
}

function hostBlocks(number: number): string[] {
  return [
    ...[`Host h${number}`, `HostName ${addressOf(number)}`, 'User root'],
    ...[`Host h${number}v6`, `HostName ${address6Of(number)}`, 'User root'],
    ...[`Host ann${number}`, `HostName ${addressOf(number)}`, 'User ann'],
  ];
}

function common(directory: string): string[] {
  return [
    'Host *',
    `IdentityFile ${join(directory, 'key')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `UserKnownHostsFile ${join(directory, 'known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
    'BatchMode yes',
    'ConnectTimeout 60',
  ];
}
