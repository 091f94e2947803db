// SPDX-License-Identifier: Apache-2.0
// Finds directories, mounts, network namespaces and processes that a run of the suites leaves: there should be none.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Hosts and servers end by themselves once their tests did. */
const GRACE_MS = 60_000 * Number(process.env.RDPIPE_TEST_PATIENCE || 1);
/** Tests name theirs so, and so do the programs. */
const OURS = /rdpipe|rdcp|rdssh|rdstage|rdtree|rdsend|rdrecv/;

/** All that is there now, each in words. */
export function foundNow() {
  return new Set([...directories(), ...mounts(), ...namespaces(), ...processes()]);
}

/** All that is new since `before` and stays. */
export async function leftSince(before) {
  const left = () => [...foundNow()].filter((words) => !before.has(words));
  const deadline = Date.now() + GRACE_MS;
  while (left().length > 0 && Date.now() < deadline) await delay(200);
  return left();
}

function directories() {
  return readdirSync(tmpdir())
    .filter((name) => OURS.test(name))
    .map((name) => `the directory ${join(tmpdir(), name)}`);
}

function mounts() {
  return textOf('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => OURS.test(place))
    .map((place) => `the mount ${place}`);
}

/** Those that ip(8) knows. Others are gone with their processes. */
function namespaces() {
  const directory = '/run/netns';
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => OURS.test(name)) : [];
  return names.map((name) => `the network namespace ${name}`);
}

/** By this run's mark in their environment, if readable, or a directory of a test in their command line. */
function processes() {
  const mark = `RDPIPE_TEST_RUN=${process.env.RDPIPE_TEST_RUN}`;
  const scratch = join(tmpdir(), 'rdpipe-');
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .map((pid) => ({ pid, command: textOf(`/proc/${pid}/cmdline`) }))
    .filter(({ pid, command }) => {
      const isMarked = textOf(`/proc/${pid}/environ`).split('\0').includes(mark);
      return command !== '' && (isMarked || command.includes(scratch));
    })
    .map(({ pid, command }) => `process ${pid}, ${command.replaceAll('\0', ' ').trim().slice(0, 100)}`);
}

/** Empty for what is gone, or not ours to read. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
