import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { acceptFileScript } from '../../src/native/deploy-scripts.ts';
import { runScript } from '../../src/native/remote-script.ts';
import { createLocalSession } from '../../src/session/local.ts';

const NEVER = new AbortController().signal;

describe('a script on a host', () => {
  let folder: string;
  const session = createLocalSession();

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  after(() => session.close());

  const fileOf = (content: Buffer, sha256 = createHash('sha256').update(content).digest('hex')) => ({
    name: 'dynamic/program',
    content,
    sha256,
  });

  it('answers, whatever else is printed', async () => {
    expect(await runScript(session, 'echo noise; printf more; say ok two words', undefined, NEVER)).to.deep.equal({
      ok: true,
      words: 'two words',
    });
    expect(await runScript(session, `say failed "two\nlines"`, undefined, NEVER)).to.deep.equal({
      ok: false,
      words: 'two lines',
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

  it('takes a file in, byte for byte', async () => {
    const content = Buffer.concat([Buffer.from('say ok\nexit\n'), Buffer.alloc(1 << 20, 0xff)]);
    const answer = await runScript(session, acceptFileScript(folder, fileOf(content)), content, NEVER);
    expect(answer.ok).to.equal(true);
    expect(readFileSync(join(folder, 'dynamic/program')).equals(content)).to.equal(true);
    expect(statSync(join(folder, 'dynamic/program')).mode & 0o777).to.equal(0o700);
  });

  it('takes no file in that was damaged on its way', async () => {
    const script = acceptFileScript(folder, fileOf(Buffer.from('good')));
    const answer = await runScript(session, script, Buffer.from('evil'), NEVER);
    expect(answer).to.deep.equal({ ok: false, words: `${folder}: the copy is not whole` });
    expect(existsSync(folder)).to.equal(false);
  });

  it('compares sizes where no program computes digests', async () => {
    const without = `sha256sum() { return 127; }; shasum() { return 127; }; openssl() { return 127; }`;
    const script = `${without}\n${acceptFileScript(folder, fileOf(Buffer.from('good')))}`;
    expect((await runScript(session, script, Buffer.from('good'), NEVER)).ok).to.equal(true);
    expect((await runScript(session, script, Buffer.from('short'), NEVER)).ok).to.equal(false);
  });
});
