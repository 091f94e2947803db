// SPDX-License-Identifier: Apache-2.0
// The rows of the table of exit statuses (docs/protocol/statuses.md, section 4.3):
// status, cause in the report, message.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import type { Result } from '../support/shell.ts';

type Row = readonly [what: string, line: string, status: number, cause: string | null, message: RegExp | null];

/** Stages that exit with a status that has another meaning for rdpipe itself. */
const OWN: readonly Row[] = [1, 2, 124, 125, 129, 130, 143, 255].map((status) => [
  `a stage's own ${status}`,
  `h1:'exit ${status}'`,
  status,
  'stage',
  new RegExp(`^stage 1 \\(h1: exit ${status}\\) exited with status ${status}$`),
]);

const ROWS: readonly Row[] = [
  ['success', 'h1:true h2:cat', 0, null, null],
  ...OWN,
  [
    "a stage's signal",
    "h1:'kill -SEGV $$' h2:cat",
    139,
    'stage',
    /^stage 1 \(h1: kill .*\) was killed by SIGSEGV; stage 2/,
  ],
  [
    'a missing command',
    'h1:no-such-command',
    127,
    'stage',
    /^stage 1 .* exited with status 127 \(command not found; if it is a file, .*\)$/,
  ],
  [
    'a command that cannot run',
    'h1:/etc/passwd',
    126,
    'stage',
    /^stage 1 .* exited with status 126 \(not executable; if it is a file, .*\)$/,
  ],
  ['words that do not form a pipeline', 'h1:true rev', 2, 'usage', /^stage 2 has no host: rev$/],
  [
    'the time limit',
    "--timeout 0.5 h1:'sleep 1000' h2:cat",
    124,
    'timeout',
    /^the run took longer than 0\.5 s \(--timeout\)$/,
  ],
  [
    'a host that cannot be reached',
    'gone:true',
    125,
    'rdpipe',
    /^cannot reach gone: connection refused on port 1 \(try: ssh .*gone true\)$/,
  ],
  [
    'a hop that cannot be connected',
    '--data h1=255.255.255.255 --data h2=255.255.255.255 h1:true h2:cat',
    125,
    'rdpipe',
    /^cannot connect h1 to h2: 255\.255\.255\.255:\d+.*\(try another address with --data HOST=ADDR.*to diagnose: rdpipe doctor h1 h2\)$/,
  ],
  [
    'a file that cannot be read',
    "h1:'< none' h2:cat",
    125,
    'rdpipe',
    /^stage 1 \(h1: < none\): cannot read none: no such file or directory$/,
  ],
  [
    'a file that cannot be written',
    "h1:true h2:'> none/out'",
    125,
    'rdpipe',
    /^stage 2 \(h2: > none\/out\): cannot .*none.*: no such file or directory$/,
  ],
  [
    'a missing shell',
    '--shell h2=no-such-shell h1:true h2:cat',
    125,
    'rdpipe',
    /^stage 2 \(h2: cat\): cannot start no-such-shell: no such file or directory$/,
  ],
  [
    'missing RDMA',
    '--transport rdma h1:true h2:cat',
    125,
    'rdpipe',
    /^cannot use RDMA from h1 to h2: .*\(.*use --transport auto to allow TCP\)$/,
  ],
];

describe('the report names the cause', () => {
  const lab = useLab({ hosts: [{ name: 'gone', client: ['Port 1'] }] });

  for (const [what, line, status, cause, message] of ROWS) {
    it(`${cause ?? 'none'}, status ${status}: ${what}`, async () => {
      const result = await lab.sh(`rdpipe --json ${line}`);
      expectReport(result, status, cause, message);
    });
  }

  for (const [signal, status] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`signal, status ${status}: ${signal} of the user`, async () => {
      const running = lab.start("exec rdpipe --json h1:'echo begun; sleep 1000' h2:cat");
      await running.printed('begun\n');
      running.kill(signal);
      expectReport(await running.result, status, 'signal', new RegExp(`^ended by ${signal}$`));
    });
  }

  it('stage, and names the status that it passes on, when all fail at the same time', async () => {
    const stages = [3, 4, 5].map((status) => `h${status - 2}:'exit ${status}'`).join(' ');
    const { status, ...result } = await lab.sh(`rdpipe --json ${stages}`);
    expect(status).to.be.oneOf([3, 4, 5]);
    const number = (status ?? 0) - 2;
    const words = new RegExp(`^stage ${number} \\(h${number}: exit ${status}\\) exited with status ${status}`);
    expectReport({ ...result, status }, status ?? 0, 'stage', words);
  });

  it('stage, not the producer that could no longer write to it', async () => {
    const result = await lab.sh("rdpipe --json h1:'yes; exit 1' h2:'head -c 1000000 | wc -c; exit 6' h3:cat");
    expectReport(result, 6, 'stage', /^stage 2 \(h2: .*\) exited with status 6/);
    expect(reportOf(result).stages[0]?.state).to.be.oneOf(['consumer_closed', 'stopped']);
  });
});

/** Expects that rdpipe's exit status and its final report agree. */
function expectReport(result: Result, status: number, cause: string | null, message: RegExp | null): void {
  const report = reportOf(result);
  expect({ status: report.status, cause: report.cause }, result.stderr).to.deep.equal({ status, cause });
  expect({ status: result.status, signal: result.signal }).to.deep.equal({ status, signal: null });
  if (message === null) expect(report.message).to.equal(null);
  else expect(report.message).to.match(message);
}
