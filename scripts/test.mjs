// SPDX-License-Identifier: Apache-2.0
// Runs parts of the test suite one after another:
//   node scripts/test.mjs [--full | --quick | --changed [BASE]] [PART...]
// Each part prints its time. The failures are listed at the end, for logs of which only the end is kept, each with the
// line that runs it alone; the last line is the sum, `N passed, N failed[, N skipped]`.
import { randomInt } from 'node:crypto';
import { changedParts } from './test/changed.mjs';
import { add, failed, NOTHING, one } from './test/counts.mjs';
import { foundNow, leftSince } from './test/leftovers.mjs';
import { PARTS, partsNamed, QUICK } from './test/parts.mjs';
import { report, timeLine } from './test/report.mjs';

/** Drawn once for all parts, so that a failure can name it. */
process.env.RDPIPE_TEST_SEED ??= String(randomInt(2 ** 32));
/** Marks the processes of this run. */
process.env.RDPIPE_TEST_RUN = `${process.pid}`;
process.exitCode = (await runAll(chosenParts(process.argv.slice(2)))) ? 0 : 1;

/** Parts with the form in which they run. */
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

/** A part that has no short form, and is named, runs in its long one. */
function inForm(parts, form) {
  return parts.map((part) => ({ name: part.name, steps: part[form] ?? part.short ?? part.long }));
}

async function runAll(parts) {
  const before = foundNow();
  let total = NOTHING;
  const times = [];
  for (const { name, steps } of parts) {
    console.log(`\n== ${name}`);
    const started = Date.now();
    let counts = NOTHING;
    for (const step of steps()) counts = add(counts, await step());
    times.push(timeLine(name, counts, (Date.now() - started) / 1000));
    console.log(times.at(-1));
    total = add(total, counts);
    if (name === 'setup' && counts.failed > 0) break;
  }
  const left = await leftSince(before);
  total = add(total, left.length === 0 ? one('passed') : failed({ words: `the run left ${left.join(', ')}` }));
  console.log(report(total, times));
  return total.failed === 0;
}
