// SPDX-License-Identifier: Apache-2.0
// The keys and the ssh configuration of a lab: h1 …, h1v6 … (IPv6), ann1 … (a user with limited memory).
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { address6Of, addressOf } from './network.ts';
import type { Place } from './place.ts';

export function configFileIn(folder: string): string {
  return join(folder, 'ssh_config');
}

/** Words before those of an ssh(1) that goes over one lasting connection a host: a new one takes half a second. */
export function lastingSsh({ folder }: Place): readonly string[] {
  const lasting = ['ControlMaster=auto', `ControlPath=${join(folder, '%n.mux')}`, 'ControlPersist=yes'];
  return ['ssh', '-F', configFileIn(folder), ...lasting.flatMap((option) => ['-o', option])];
}

export function makeSshFiles(folder: string, hosts: number): void {
  for (const name of ['key', 'host_key'])
    execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rdpipe-lab', '-f', join(folder, name)]);
  copyFileSync(join(folder, 'key.pub'), join(folder, 'authorized_keys'));
  const numbers = Array.from({ length: hosts }, (_, index) => index + 1);
  const addresses = numbers.flatMap((number) => [addressOf(number), address6Of(number)]);
  const hostKey = readFileSync(join(folder, 'host_key.pub'), 'utf8');
  writeFileSync(join(folder, 'known_hosts'), `${addresses.join(',')} ${hostKey}`);
  writeFileSync(configFileIn(folder), `${[...numbers.flatMap(hostBlocks), ...common(folder)].join('\n')}\n`);
}

function hostBlocks(number: number): string[] {
  return [
    ...[`Host h${number}`, `HostName ${addressOf(number)}`, 'User root'],
    ...[`Host h${number}v6`, `HostName ${address6Of(number)}`, 'User root'],
    ...[`Host ann${number}`, `HostName ${addressOf(number)}`, 'User ann'],
  ];
}

function common(folder: string): string[] {
  return [
    'Host *',
    `IdentityFile ${join(folder, 'key')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `UserKnownHostsFile ${join(folder, 'known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
    'BatchMode yes',
    'ConnectTimeout 60',
  ];
}
