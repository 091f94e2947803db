// SPDX-License-Identifier: Apache-2.0
// Finds directories, mounts, network namespaces and processes left by a run of the suites: there should be none.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The time in which hosts and servers end on their own after their tests. */
const GRACE_MS = 60_000 * Number(process.env.RDPIPE_TEST_PATIENCE || 1);
/** Part of every name that tests and programs use. */
const OURS = /rdpipe|rdcp|rdssh|rdstage|rdtree|rdsend|rdrecv/;

/** Everything that exists now, each as text. */
export function foundNow() {
  return new Set([...directories(), ...mounts(), ...namespaces(), ...processes()]);
}

/** Everything that is new since `before` and remains after GRACE_MS. */
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

/** The namespaces that ip(8) knows; others end with their processes. */
function namespaces() {
  const directory = '/run/netns';
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => OURS.test(name)) : [];
  return names.map((name) => `the network namespace ${name}`);
}

/** Processes with this run's mark in their environment, if readable, or a test's directory in their command line. */
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

/** A file's text; empty if it does not exist or is not readable. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
