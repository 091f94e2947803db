import { expect } from 'chai';
import { needsFile, needsTool } from '../../../../test/support/needs.ts';
import { openSessions } from '../../src/session/open.ts';
import { textOf } from './conformance.ts';
import { hostRef, settingsFor, startTestHosts, type TestHosts } from './ssh-hosts.ts';

describe('a machine without ssh', () => {
  const path = process.env.PATH;
  let hosts: TestHosts;

  before(async function () {
    needsFile(this, '/usr/sbin/sshd');
    needsTool(this, 'ssh-keygen');
    hosts = await startTestHosts([{ name: 'h1' }, { name: 'h2', jump: 'h1' }]);
    process.env.PATH = '/nowhere';
  });
  after(async () => {
    process.env.PATH = path;
    await hosts?.close();
  });

  it('connects with ssh2, following the configuration', async () => {
    const sessions = await openSessions([hostRef('h2')], settingsFor(hosts, { client: 'auto' }), undefined);
    const session = sessions.all.get('1');
    expect(session?.kind).to.equal('ssh2');
    const channel = await session?.openShell(new AbortController().signal);
    channel?.stdin.end('echo $SSH_CONNECTION\n');
    expect(channel && (await textOf(channel.stdout))).to.include(` ${hosts.hosts.get('h2')?.address} `);
    await sessions.close();
  });

  it('reports it if ssh is requested', async () => {
    const outcome = await openSessions([hostRef('h1')], settingsFor(hosts), undefined).catch((error: unknown) => error);
    expect(outcome).to.have.property(
      'message',
      'ssh is not installed on this machine (use --ssh ssh2, which does not need it)',
    );
  });
});
