import { expect } from 'chai';
import { UsageError } from '../../../src/model/errors.ts';
import type { RunEvent } from '../../../src/model/events.ts';
import type { Renderer } from '../../../src/ui/renderer.ts';
import { NO_COLORS } from '../../../src/ui/terminal/colors.ts';
import type { Display } from '../../../src/ui/terminal/display.ts';
import { createHumanRenderer } from '../../../src/ui/terminal/human.ts';
import { createProgress } from '../../../src/ui/terminal/progress.ts';
import { counters, planFor, report } from '../helpers.ts';

interface Shown {
  readonly renderer: Renderer;
  /** The calls to the display, in order. */
  readonly calls: string[];
}

const QUIET = { verbosity: 0, quiet: true, dryRun: false, stderr: 'auto', prefix: true, isTerminal: false } as const;
const NORMAL = { ...QUIET, quiet: false } as const;
const LOUD = { ...NORMAL, verbosity: 2 } as const;

function show(settings: Parameters<typeof createHumanRenderer>[0], events: readonly RunEvent[] = []): Shown {
  const calls: string[] = [];
  const display: Display = {
    text: (text) => calls.push(Buffer.from(text).toString()),
    status: (text) => calls.push(`[${text ?? ''}]`),
    startRows: () => calls.push('[rows]'),
    output: () => calls.push('[output]'),
    pause: () => calls.push('[pause]'),
    resume: () => calls.push('[resume]'),
    stop: () => calls.push('[stop]'),
  };
  const renderer = createHumanRenderer(
    settings,
    display,
    createProgress(undefined, () => 0),
    NO_COLORS,
  );
  for (const event of events) renderer.handle(event);
  return { renderer, calls };
}

const plan = planFor(['h1:a', 'h2:b']);

/** One event of every kind, in the order of a run. */
const RUN: readonly RunEvent[] = [
  { kind: 'connecting', hosts: ['h1', 'h2'] },
  { kind: 'prompting', host: 'h1', active: true },
  { kind: 'prompting', host: 'h1', active: false },
  { kind: 'host_connected', host: 'h1', lacks: [] },
  { kind: 'deploying', host: 'h2', bytes: 2048, copied: 0 },
  { kind: 'deploying', host: 'h2', bytes: 2048, copied: 1024 },
  { kind: 'host_connected', host: 'h2', lacks: ['no seccomp'] },
  { kind: 'log', message: 'something\nwas done' },
  { kind: 'planned', plan },
  { kind: 'hop_connected', link: 1, transport: 'tcp', cipher: 'none', way: '10.0.0.2:4, ssh address' },
  { kind: 'segment_started', segment: 1 },
  { kind: 'size', link: 1, bytes: 5 },
  counters({ bytes: 5 }),
  { kind: 'output', link: 2 },
  { kind: 'hop_broken', link: 1, end: 'send', host: 'h1', message: 'connection reset' },
  { kind: 'hop_resumed', link: 1, end: 'send', host: 'h1', bytes: 2048 },
  { kind: 'stderr', stage: 1, host: 'h1', data: Buffer.from('oh\nno') },
  { kind: 'suspended' },
  { kind: 'resumed' },
  { kind: 'stage_exited', stage: 1, host: 'h1', code: 1, signal: null, stopped: false, consumerClosed: false },
  { kind: 'stage_exited', stage: 2, host: 'h2', code: null, signal: 9, stopped: true, consumerClosed: false },
  { kind: 'stopping', reason: 'stage 1 exited with status 1' },
  { kind: 'warning', message: 'process 99 (sudo x) is still running on h1' },
  { kind: 'finished', report: report({ message: 'stage 1 (h1: a) exited with status 1', status: 1, cause: 'stage' }) },
];

describe('human', () => {
  it('shows the output of ssh as ssh does for rdssh, when the host is known not to be left to ssh', () => {
    const text = { kind: 'login_text', host: 'h1', log: 'Warning: new\r\n', banner: 'Hello\u001b\n' } as const;
    const connected = { kind: 'host_connected', host: 'h1', lacks: [] } as const;
    const asSsh = { ...NORMAL, program: 'rdssh' } as const;
    const textsOf = (...shown: Parameters<typeof show>) => show(...shown).calls.filter((call) => !call.startsWith('['));
    expect(textsOf(asSsh, [text])).to.deep.equal([]);
    expect(textsOf(asSsh, [text, connected])).to.deep.equal(['Warning: new\r\n', 'Hello␛\n']);
    expect(textsOf({ ...asSsh, quiet: true }, [text, connected])).to.deep.equal([]);
    expect(textsOf(LOUD, [text])).to.deep.equal(['rdpipe: h1: Warning: new\n', 'rdpipe: h1: Hello␛\n']);
  });

  it('shows stages, warnings and the failure', () => {
    expect(show(NORMAL, RUN).calls).to.deep.equal([
      '[connecting to h1, h2]',
      '[pause]',
      '[resume]',
      '[connecting to h2]',
      '[connecting to h2 (copying the agent: 0 B of 2.0 KiB)]',
      '[connecting to h2 (copying the agent: 1.0 KiB of 2.0 KiB)]',
      '[opening data connections]',
      '[]',
      '[rows]',
      '[output]',
      'h1: oh\n',
      '[pause]',
      '[resume]',
      'rdpipe: warning: process 99 (sudo x) is still running on h1\n',
      'h1: no\n',
      '[stop]',
      'rdpipe: stage 1 (h1: a) exited with status 1\n',
    ]);
  });

  it('counts the hosts to which it connects if there are many', () => {
    const hosts = Array.from({ length: 12 }, (_, rank) => `n${rank}`);
    const { calls } = show(NORMAL, [
      { kind: 'connecting', hosts },
      { kind: 'host_connected', host: 'n0', lacks: [] },
    ]);
    expect(calls).to.deep.equal([
      `[connecting to 12 of 12 hosts: ${hosts.join(', ')}]`,
      `[connecting to 11 of 12 hosts: ${hosts.slice(1).join(', ')}]`,
    ]);
  });

  it('logs with -vv and ends with the summary', () => {
    const lines = show(LOUD, RUN).calls.filter((call) => !call.startsWith('['));
    expect(lines).to.include.members([
      'rdpipe: h1: connected\n',
      'rdpipe: h2: no seccomp\n',
      'rdpipe: h2: copying the agent, 2.0 KiB\n',
      'rdpipe: something; was done\n',
      'rdpipe: hop 1 connected: tcp, none, 10.0.0.2:4, ssh address\n',
      'rdpipe: h1: hop 1 broke, reconnecting: connection reset\n',
      'rdpipe: h1: hop 1 reconnected, resuming after 2.0 KiB\n',
      'rdpipe: h1: stage 1 exited with status 1\n',
      'rdpipe: h2: stage 2 was killed by signal 9\n',
      'rdpipe: stopping: stage 1 exited with status 1\n',
    ]);
    const summary = lines.findIndex((line) => line.startsWith('Bandwidth '));
    expect(summary).to.be.greaterThan(lines.indexOf('h1: no\n'));
    expect(lines.at(-1)).to.equal('rdpipe: stage 1 (h1: a) exited with status 1\n');
  });

  it('says with -v what the kernel of a host lacks', () => {
    const connected: RunEvent = { kind: 'host_connected', host: 'h2', lacks: ['no seccomp', 'no Landlock'] };
    const lines = show({ ...NORMAL, verbosity: 1 }, [connected]).calls.filter((call) => !call.startsWith('['));
    expect(lines).to.deep.equal(['rdpipe: h2: no seccomp\n', 'rdpipe: h2: no Landlock\n']);
  });

  it('with -q shows only the output of stages and the failure', () => {
    const lines = show(QUIET, RUN).calls.filter((call) => !call.startsWith('['));
    expect(lines).to.deep.equal(['h1: oh\n', 'h1: no\n', 'rdpipe: stage 1 (h1: a) exited with status 1\n']);
  });

  it('is silent about success', () => {
    const finished: RunEvent = { kind: 'finished', report: report() };
    expect(show(NORMAL, [finished]).calls).to.deep.equal(['[stop]']);
    expect(show({ ...QUIET, dryRun: true }, [finished]).calls).to.deep.equal(['[stop]']);
  });

  it('reports that a dry run started nothing, without a summary', () => {
    const finished: RunEvent = { kind: 'finished', report: report() };
    const line = "rdpipe: dry run: nothing was started (for ssh's -n, use --stdin none)\n";
    for (const settings of [NORMAL, LOUD])
      expect(show({ ...settings, dryRun: true }, [finished]).calls).to.deep.equal(['[stop]', line]);
  });

  it('shows a failure before the run', () => {
    const { renderer, calls } = show(NORMAL);
    renderer.failure(new UsageError('wrong', '  rdpipe x\n         ^'));
    renderer.close();
    expect(calls).to.deep.equal(['[stop]', 'rdpipe: wrong\n  rdpipe x\n         ^\n', '[stop]']);
  });
});
