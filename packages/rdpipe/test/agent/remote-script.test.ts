import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { bundleFile, sha256Of } from '../../src/agent/bundle.ts';
import { acceptFileScript } from '../../src/agent/deploy-scripts.ts';
import { runScript } from '../../src/agent/remote-script.ts';
import { createLocalSession } from '../../src/session/local.ts';

const NEVER = new AbortController().signal;

describe('a script on a host', () => {
  let directory: string;
  const session = createLocalSession();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  after(() => session.close());

  const copy = async (sent: Buffer, announced = sent, before = '') => {
    const file = await fileOf('dynamic/program', announced);
    const other = await fileOf('', sent);
    return runScript(
      session,
      `${before}\n${acceptFileScript(directory, file)}`,
      async (form) => (form.startsWith('gzip') ? other.compressed() : sent),
      NEVER,
    );
  };

  it('answers, whatever else is printed around it', async () => {
    expect(await runScript(session, 'echo noise; printf more; say ok two words', undefined, NEVER)).to.deep.equal({
      ok: true,
      text: 'two words',
    });
    expect(await runScript(session, `say failed "two\nlines"`, undefined, NEVER)).to.deep.equal({
      ok: false,
      text: 'two lines',
    });
  });

  it('fails with its last words when it gives no answer', async () => {
    const outcome = await runScript(session, 'echo why >&2; exit 1', undefined, NEVER).catch((error: unknown) => error);
    expect(outcome).to.have.property('message', 'cannot copy the agent to this machine: why');
  });

  it('ends with the run', async () => {
    const signal = AbortSignal.timeout(100);
    const outcome = await runScript(session, 'sleep 60', undefined, signal).catch((error: unknown) => error);
    expect(outcome).to.equal(signal.reason);
  });

  for (const [how, before] of [
    ['compressed', ''],
    ['uncompressed, if there is no gzip', 'command() { return 1; }'],
  ] as const) {
    it(`receives a file byte for byte, ${how}`, async () => {
      const content = Buffer.concat([Buffer.from('say ok\nexit\n'), randomBytes(1 << 20)]);
      expect(await copy(content, content, before)).to.deep.equal({ ok: true, text: '' });
      expect(readFileSync(join(directory, 'dynamic/program')).equals(content)).to.equal(true);
      expect(statSync(join(directory, 'dynamic/program')).mode & 0o777).to.equal(0o700);
    });
  }

  it('rejects a file that was damaged in transit', async () => {
    expect(await copy(Buffer.from('evil'), Buffer.from('good'))).to.deep.equal({
      ok: false,
      text: `${dirname(directory)}: the copy is damaged`,
    });
    expect(existsSync(directory)).to.equal(false);
  });

  it('compares sizes if no program computes digests', async () => {
    const without = 'sha256sum() { return 127; }; shasum() { return 127; }; openssl() { return 127; }';
    const good = Buffer.from('good');
    expect((await copy(good, good, without)).ok).to.equal(true);
    expect((await copy(Buffer.from('short'), good, without)).ok).to.equal(false);
  });
});

async function fileOf(name: string, content: Buffer) {
  return bundleFile(name, content.length, await sha256Of(content), async () => content);
}
