// SPDX-License-Identifier: Apache-2.0
// Runs parts of the test suite, those that mostly wait in parallel with those that compute:
//   node scripts/test.mjs [--full | --quick | --changed [BASE]] [PART...]
// Each part prints its time. Failures are listed at the end, for logs that keep only their end, each with a command
// that runs only this test; the last line is the sum, `N passed, N failed[, N skipped]`.
import { randomInt } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changedParts } from './test/changed.mjs';
import { add, failed, NOTHING, one } from './test/counts.mjs';
import { foundNow, leftSince } from './test/leftovers.mjs';
import { PARTS, partsNamed, QUICK } from './test/parts.mjs';
import { report, timeLine } from './test/report.mjs';
import { say } from './test/run-command.mjs';

/** Chosen once for all parts, so that a failure can report it. */
process.env.RDPIPE_TEST_SEED ??= String(randomInt(2 ** 32));
/** A mark in the environment of this run's processes. */
process.env.RDPIPE_TEST_RUN = `${process.pid}`;
process.exitCode = await main(process.argv.slice(2));

async function main(words) {
  let parts;
  try {
    parts = chosenParts(words);
  } catch (error) {
    console.error(`test: ${error.message}`);
    return 2;
  }
  return (await runAll(parts)) ? 0 : 1;
}

/** The parts to run, each in its short or long form. */
function chosenParts(words) {
  const form = words[0]?.startsWith('--') ? words[0] : undefined;
  const rest = form === undefined ? words : words.slice(1);
  if (form === '--changed') return inForm(changedParts(rest[0] ?? 'main'), 'long');
  if (form === '--quick') return QUICK;
  if (form !== undefined && form !== '--full') throw new Error(`unknown option ${form}: --full, --quick or --changed`);
  const long = form === '--full';
  const byDefault = PARTS.filter((part) => long || part.short !== undefined);
  return inForm(rest.length > 0 ? partsNamed(rest) : byDefault, long ? 'long' : 'short');
}

/** A part without a short form that the user names runs in its long form. */
function inForm(parts, form) {
  return parts.map(({ name, waits = false, short, long }) => ({
    name,
    steps: form === 'long' ? long : (short ?? long),
    beside: waits && form === 'short',
  }));
}

async function runAll(parts) {
  const before = foundNow();
  const names = parts.map(({ name }) => name);
  const ends = parts[0]?.name === 'setup' ? [await runPart(parts[0], names, 1)] : [];
  if (ends.every(({ counts }) => counts.failed === 0)) {
    const rest = parts.slice(ends.length);
    const lanes = [runLane(rest.filter(({ beside }) => !beside)), runLane(rest.filter(({ beside }) => beside))];
    ends.push(...(await Promise.all(lanes)).flat());
  }
  const left = await leftSince(before);
  const leftNothing = left.length === 0 ? one('passed') : failed({ words: `the run left ${left.join(', ')}` });
  const total = ends.reduce((sum, { counts }) => add(sum, counts), leftNothing);
  const times = ends.map(({ line }) => line);
  console.log(report(total, times));
  return total.failed === 0;

  /** Runs one part after another. A part that runs in parallel with others prints its output at its end. */
  async function runLane(lane) {
    const over = [];
    for (const part of lane) over.push(await (part.beside ? runBeside(part, names) : runPart(part, names, 1)));
    return over;
  }
}

async function runBeside(part, names) {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-output-'));
  const file = join(scratch, 'output');
  const output = openSync(file, 'w');
  const end = await runPart(part, names, output);
  closeSync(output);
  say(1, readFileSync(file));
  rmSync(scratch, { recursive: true });
  return end;
}

/** Runs a part; `output` is a descriptor. */
async function runPart({ name, steps }, names, output) {
  say(output, `\n== ${name}\n`);
  const started = Date.now();
  let counts = NOTHING;
  for (const step of steps(names)) counts = add(counts, await step(output));
  const line = timeLine(name, counts, (Date.now() - started) / 1000);
  say(output, `${line}\n`);
  return { counts, line };
}
