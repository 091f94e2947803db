// SPDX-License-Identifier: Apache-2.0
// The end of a run's log: each failure with a command that runs only its test, the time of each part, the sum.
import { inWords } from './counts.mjs';

const LONGEST_MESSAGE = 2000;

/** The text of the report. `times`: a line of timeLine() for each part. */
export function report(total, times) {
  const failures = total.failures.map((failure) => `${failureText(failure)}\n\n`);
  return `\n${failures.join('')}${times.join('\n')}\n\n${inWords(total)}`;
}

/** A part's line, with its time and counts. */
export function timeLine(name, counts, seconds) {
  return `-- ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s   ${inWords(counts)}`;
}

/** `words`, and for a mocha test its `file` and `title`. With the same seed, a test uses the same random samples. */
function failureText({ words, file, title }) {
  const lines = [`FAILED ${words.slice(0, LONGEST_MESSAGE)}`];
  if (file !== undefined) {
    const quoted = `'${title.replaceAll("'", "'\\''")}'`;
    lines.push(`  in ${file}; to run only this test:`);
    lines.push(`  RDPIPE_TEST_SEED=${process.env.RDPIPE_TEST_SEED} node_modules/.bin/mocha ${file} -f ${quoted}`);
  }
  return lines.join('\n');
}
