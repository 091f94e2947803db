// SPDX-License-Identifier: Apache-2.0
// Runs a step of the set-up: one line with its seconds; where it fails, the end of its log and a line with the reason.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf } from './reason.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

const LOG = join(ROOT, 'build/setup.log');
/** A step that takes no longer prints no line: with everything in place there is nothing to tell. */
const QUICK_MS = 3000;
const SHOWN_LINES = 20;

/** Runs commands one after another, and returns what they printed; ends this process where one fails. */
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

export function say(line) {
  console.error(`setup: ${line}`);
}

export function fail(message) {
  say(message);
  process.exit(1);
}

/** Undefined where the command succeeded. The log is a file: a server that a package starts may keep it open. */
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

/** Of the step that runs now. */
function openLog() {
  try {
    mkdirSync(dirname(LOG), { recursive: true });
    return { path: LOG, descriptor: openSync(LOG, 'w') };
  } catch (error) {
    return fail(`cannot write ${LOG}: ${error.message}`);
  }
}

/** A reason that is known is shown alone. */
function failStep(what, failure, path) {
  const text = readFileSync(path, 'utf8');
  const reason = reasonOf(text, { isFull: isFull(dirname(path)) || isFull(tmpdir()) });
  if (reason !== undefined) fail(`${what} failed: ${reason}; the log is in ${path}`);
  process.stderr.write(`${text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')}\n`);
  fail(`${what} failed: ${failure}; mend what the lines above name, and try again; the whole log is in ${path}`);
}

function isFull(directory) {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < 1_000_000;
}

/** On a terminal the seconds are shown meanwhile; elsewhere the line begins when the step is not quick. */
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
