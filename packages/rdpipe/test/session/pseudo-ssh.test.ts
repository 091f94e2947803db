import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openSessions } from '../../src/session/open.ts';
import { itConforms, textOf } from './conformance.ts';
import { hostRef, settingsFor } from './ssh-hosts.ts';

const PSEUDO_SSH = fileURLToPath(new URL('../../../../test/support/pseudo-ssh', import.meta.url));

describe('a session with a pretended ssh', () => {
  const path = process.env.PATH;
  let directory: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    symlinkSync(PSEUDO_SSH, join(directory, 'ssh'));
    process.env.PATH = `${directory}:${path}`;
  });
  after(() => {
    process.env.PATH = path;
    rmSync(directory, { recursive: true });
  });

  const open = async () => {
    const hosts = { configFile: '/dev/null', hosts: new Map(), close: async () => {} };
    const sessions = await openSessions([hostRef('h1')], settingsFor(hosts), undefined);
    const session = sessions.all.get('1');
    if (session === undefined) throw new Error('no session');
    return { ...session, close: () => sessions.close() };
  };

  itConforms(open);

  it('runs the command here', async () => {
    const session = await open();
    const channel = await session.openShell(new AbortController().signal);
    channel.stdin.end('echo $SSH_CONNECTION; pwd\n');
    expect(await textOf(channel.stdout)).to.equal(`127.0.0.1 50000 127.0.0.1 22\n${process.env.HOME}\n`);
    await session.close();
  });
});
