import { expect } from 'chai';
import { jsonObject } from '../../../../../test/support/json-output.ts';
import { SessionError } from '../../../src/model/errors.ts';
import type { Examination, Finding } from '../../../src/model/examination.ts';
import { UNLIMITED } from '../../../src/ui/columns.ts';
import { createDoctorView } from '../../../src/ui/terminal/doctor.ts';
import type { Output } from '../../../src/ui/terminal/status.ts';
import type { Terminal } from '../../../src/ui/terminal/terminal.ts';
import { createPage, createScreen, type Page } from '../helpers.ts';

const WELL: Finding = { check: 'ssh', result: 'ok', found: 'login in 0.3 s', fix: null };
const LOW: Finding = { check: 'memlock', result: 'warn', found: 'low\n\u001b[2J', fix: 'more' };
const BROKEN: Finding = { check: 'tcp h1→h2', result: 'fail', found: 'refused', fix: 'open ports' };
const EXAMINATION: Examination = {
  v: 1,
  status: 1,
  hosts: [{ host: 'h1', checks: [WELL, LOW] }],
  pairs: [{ hosts: ['h1', 'h2'], checks: [BROKEN], measured: [] }],
};

describe('the output of doctor', () => {
  it('is one line per check, its fix below it, and a verdict', async () => {
    const { out, error } = await show({});
    expect(out.text).to.equal(
      [
        'h1',
        '  ok    ssh      login in 0.3 s',
        '  warn  memlock  low; ␛[2J',
        '                 → more',
        'h1 and h2',
        '  fail  tcp h1→h2  refused',
        '                   → open ports',
        '1 check failed, 1 warning',
        '',
      ].join('\n'),
    );
    expect(error.text).to.equal('');
  });

  it('is broken between words on a terminal', async () => {
    const found = 'no answer from 10.0.0.2:40000 within 10 seconds';
    const checks: readonly Finding[] = [
      { ...BROKEN, found, fix: 'open TCP ports in the firewalls in both directions' },
    ];
    const narrow = { ...EXAMINATION, hosts: [], pairs: [{ hosts: ['h1', 'h2'] as const, checks, measured: [] }] };
    expect((await show({}, narrow, false, 50)).out.text.split('\n')).to.deep.equal([
      'h1 and h2',
      '  fail  tcp h1→h2  no answer from 10.0.0.2:40000',
      '                within 10 seconds',
      '                → open TCP ports in the firewalls',
      '                in both directions',
      '1 check failed',
      '',
    ]);
  });

  it('is only the problems with -q', async () =>
    expect((await show({ quiet: true })).out.text).to.equal(
      'h1\n  warn  memlock  low; ␛[2J\n                 → more\nh1 and h2\n  fail  tcp h1→h2  refused\n                   → open ports\n',
    ));

  it('is empty with -q if there are no problems', async () => {
    const well = { ...EXAMINATION, status: 0, hosts: [{ host: 'h1', checks: [WELL] }], pairs: [] } as const;
    expect((await show({ quiet: true }, well)).out.text).to.equal('');
    expect((await show({}, well)).out.text).to.match(/^no problems found$/m);
  });

  it('is one JSON object with --json', async () => {
    const { out, error } = await show({ json: true });
    expect(jsonObject(out.text, 'doctor')).to.deep.equal(EXAMINATION);
    expect([out.text.split('\n').length, error.text]).to.deep.equal([2, '']);
  });

  it('is the failure of an examination that did not finish', async () => {
    const failure = new SessionError('no_agent', 'this machine', 'no programs');
    const { out, error } = await show({}, failure);
    expect([out.text, error.text]).to.deep.equal(['', 'rdpipe: no programs\n']);
    const json = await show({ json: true }, failure);
    const object = { v: 1, status: 125, message: 'no programs', hosts: [], pairs: [] };
    expect([jsonObject(json.out.text, 'doctor'), json.error.text]).to.deep.equal([object, '']);
  });

  it('shows progress with -v, on standard error', async () => {
    const { error } = await show({ verbosity: 1 });
    expect(error.text).to.equal('rdpipe: h1: copying the agent, 2.0 KiB\nrdpipe: connected: tcp, none, by 10.0.0.2\n');
  });

  it('has a spinner that does not mix with it on a terminal', async () => {
    const { out, error } = await show({}, EXAMINATION, true);
    expect(error.text)
      .to.match(/connecting to h1/)
      .and.to.match(/copying the agent to h1: 0 B of 2\.0 KiB/);
    expect(out.text).to.match(/^h1\n {2}ok/);
    expect((await show({ quiet: true }, EXAMINATION, true)).error.text).to.equal('');
  });
});

async function show(
  changes: { readonly quiet?: boolean; readonly json?: boolean; readonly verbosity?: 0 | 1 },
  end: Examination | Error = EXAMINATION,
  onTerminal = false,
  columns = UNLIMITED,
): Promise<{ readonly out: Page; readonly error: Page }> {
  const out = createPage();
  const error = createPage();
  const stream = onTerminal ? createScreen(error) : undefined;
  const terminal: Terminal = { isTerminal: onTerminal, stream, color: false, write: error.write };
  const output: Output = { color: false, columns: () => columns, write: out.write };
  const view = await createDoctorView({ quiet: false, json: false, verbosity: 0, ...changes }, terminal, output);
  view.doing('connecting to h1');
  view.emit({ kind: 'deploying', host: 'h1', bytes: 2048, copied: 0 });
  view.emit({ kind: 'hop_connected', link: 1, transport: 'tcp', cipher: 'none', way: 'by 10.0.0.2' });
  if (end instanceof Error) view.failure(end);
  else {
    for (const host of end.hosts) view.found({ kind: 'host', host });
    for (const pair of end.pairs) view.found({ kind: 'pair', pair });
    view.finished(end);
  }
  view.close();
  return { out, error };
}
