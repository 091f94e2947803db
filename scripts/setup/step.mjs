// SPDX-License-Identifier: Apache-2.0
// Runs a step of the set-up: one line with its seconds; on failure, the end of its log and the reason.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf } from './reason.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

const LOG = join(ROOT, 'build/setup.log');
/** A step that takes no longer prints no line, such as one that finds everything installed. */
const QUICK_MS = 3000;
const SHOWN_LINES = 20;

/** Runs commands one after another and returns their output, a Buffer; ends this process if one fails. */
export async function step(what, ...commands) {
  const log = openLog();
  const stopClock = startClock(what);
  for (const command of commands) {
    const failure = await run(command, log.descriptor);
    if (failure === undefined) continue;
    stopClock();
    failStep(what, `${command[0]} ${failure}`, log.path);
  }
  stopClock();
  closeSync(log.descriptor);
  return readFileSync(log.path);
}

/** Prints a line on standard error. */
export function say(line) {
  console.error(`setup: ${line}`);
}

/** Prints a message and ends this process with status 1. */
export function fail(message) {
  say(message);
  process.exit(1);
}

/** Resolves with the failure; undefined on success. The log is a file, because a started server may keep it open. */
function run([command, ...args], log) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', log, log] });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`did not start: ${error.message}`));
    child.once('exit', (code, signal) => {
      if (code !== 0) resolve(signal === null ? `exited with status ${code}` : `was ended by ${signal}`);
      else resolve(undefined);
    });
  });
}

/** Opens the log of the current step. */
function openLog() {
  try {
    mkdirSync(dirname(LOG), { recursive: true });
    return { path: LOG, descriptor: openSync(LOG, 'w') };
  } catch (error) {
    return fail(`cannot write ${LOG}: ${error.message}`);
  }
}

/** Shows a recognized reason without the log. */
function failStep(what, failure, path) {
  const text = readFileSync(path, 'utf8');
  const reason = reasonOf(text, { isFull: isFull(dirname(path)) || isFull(tmpdir()) });
  if (reason !== undefined) fail(`${what} failed: ${reason}; the log is in ${path}`);
  process.stderr.write(`${text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')}\n`);
  fail(`${what} failed: ${failure}; fix the cause shown above and try again; the complete log is in ${path}`);
}

function isFull(directory) {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < 1_000_000;
}

/** Shows a running count of seconds on a terminal; elsewhere begins the line once the step is not quick. */
function startClock(what) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  let isShown = false;
  const show = () => {
    if (process.stderr.isTTY) process.stderr.write(`\rsetup: ${what}, ${seconds()}`);
    else if (!isShown) process.stderr.write(`setup: ${what}, `);
    isShown = true;
  };
  const wait = setTimeout(show, QUICK_MS);
  const tick = setInterval(() => isShown && show(), 1000);
  return () => {
    clearTimeout(wait);
    clearInterval(tick);
    if (isShown) process.stderr.write(process.stderr.isTTY ? `\rsetup: ${what}, ${seconds()}\n` : `${seconds()}\n`);
  };
}
