// SPDX-License-Identifier: Apache-2.0
// A host without a route to or from other machines:
// its server runs in a network that has only a loopback device, and ssh reaches it through a pipe.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { succeeded } from '../support/shell.ts';

describe('a host that only ssh reaches', () => {
  const lab = useLab();

  before(function () {
    needsRoot(this);
    needsTool(this, 'unshare', 'ip');
  });

  it('has its hops forwarded through ssh, encrypted, and the report shows it', async () => {
    const { text, status, stderr } = await lab.sh(`echo hi | rdpipe -v ${cutOff()} h1:'tr a-z A-Z'`);
    expect({ text, status }, stderr).to.deep.equal({ text: 'HI\n', status: 0 });
    for (const hop of ['this machine→h1', 'h1→this machine']) {
      expect(stderr).to.match(new RegExp(`^${hop} +tcp aes-256-gcm \\(OpenSSL [\\d.]+\\) +delivered`, 'm'));
      expect(stderr).to.match(new RegExp(`^${hop}: forwarded through ssh$`, 'm'));
    }
  });

  it('carries more than fits into a socket', async () =>
    succeeded(await lab.sh(`head -c 20M /dev/zero | rdpipe ${cutOff()} h1:cat | wc -c`), `${20 * 1024 * 1024}\n`));

  it('is joined to another one by a relay, or not at all, and reports it', async () => {
    expect(await lab.sh(`rdpipe ${cutOff()} h1:'echo hi' h2:rev`)).to.deep.include({ text: 'ih\n', status: 0 });
    const { status, stderr } = await lab.sh(`rdpipe --relay never ${cutOff()} h1:'touch ${lab.directory}/ran' h2:cat`);
    expect(status).to.equal(125);
    expect(stderr).to.match(/^rdpipe: no address is known .*h1.*h2.*--data/);
    expect(await lab.list()).not.to.include('ran');
  });

  /** ssh replaces %n by the alias, which names the server's configuration. */
  function cutOff(): string {
    const server = `exec /usr/sbin/sshd -i -f ${lab.homes}/%n.sshd_config`;
    return `-o ProxyCommand="unshare -n sh -c 'ip link set lo up; ${server}'"`;
  }
});
