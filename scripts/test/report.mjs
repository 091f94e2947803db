// SPDX-License-Identifier: Apache-2.0
// The end of a run's log: each failure with the line that runs its test alone, the time of each part, the sum.
import { inWords } from './counts.mjs';

const LONGEST_MESSAGE = 2000;

/** `times`: a line of timeLine() for each part. */
export function report(total, times) {
  const failures = total.failures.map((failure) => `${failureText(failure)}\n\n`);
  return `\n${failures.join('')}${times.join('\n')}\n\n${inWords(total)}`;
}

export function timeLine(name, counts, seconds) {
  return `-- ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s   ${inWords(counts)}`;
}

/** `words`, and for a test of mocha its `file` and `title`. The seed draws the same sample again. */
function failureText({ words, file, title }) {
  const lines = [`FAILED ${words.slice(0, LONGEST_MESSAGE)}`];
  if (file !== undefined) {
    const quoted = `'${title.replaceAll("'", "'\\''")}'`;
    lines.push(`  in ${file}; alone:`);
    lines.push(`  RDPIPE_TEST_SEED=${process.env.RDPIPE_TEST_SEED} node_modules/.bin/mocha ${file} -f ${quoted}`);
  }
  return lines.join('\n');
}
