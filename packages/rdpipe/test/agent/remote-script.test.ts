import { expect } from 'chai';
import { runScript } from '../../src/agent/remote-script.ts';
import { createLocalSession } from '../../src/session/local.ts';

describe('a script on a host', () => {
  const session = createLocalSession();
  after(() => session.close());

  const run = (script: string, signal = new AbortController().signal) =>
    runScript(session, script, signal, 'cannot examine this machine');

  it('answers, whatever else is printed around it', async () => {
    expect(await run('echo noise; printf more; say ok two words')).to.deep.equal({ verb: 'ok', text: 'two words' });
    expect(await run(`say failed "two\nlines"`)).to.deep.equal({ verb: 'failed', text: 'two lines' });
  });

  it('fails with its last words when it gives no answer', async () => {
    const outcome = await run('echo why >&2; exit 1').catch((error: unknown) => error);
    expect(outcome).to.have.property('message', 'cannot examine this machine: why');
  });

  it('ends with the run', async () => {
    const signal = AbortSignal.timeout(100);
    const outcome = await run('sleep 60', signal).catch((error: unknown) => error);
    expect(outcome).to.equal(signal.reason);
  });
});
