// SPDX-License-Identifier: Apache-2.0
// Hosts that ssh reaches through a pipe, so that it names no address of theirs, and that have two networks in common:
// one of them joins the hosts, the other only has one number at both ends.
import { expect } from 'chai';
import { execaSync } from 'execa';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { useLab } from '../support/lab.ts';
import { makeNamespace, ownNamespaces, removeNamespace } from '../support/namespaces.ts';
import { needsRoot, needsTool } from '../support/needs.ts';

const HOSTS = ['h1', 'h2'] as const;

describe('hosts on networks that ssh does not use', () => {
  const lab = useLab();
  const spaces = ownNamespaces('networks');
  const between = `${spaces}-switch`;
  const spaceOf = (host: string) => `${spaces}-${host}`;

  before(function () {
    needsRoot(this);
    needsTool(this, 'ip');
    makeNamespace(between);
    ip('-n', between, 'link', 'add', 'switch', 'up', 'type', 'bridge');
    for (const [index, host] of HOSTS.entries()) {
      makeNamespace(spaceOf(host));
      plugIn(host, 'decoy', `10.9.0.${index + 1}/24`);
      plugIn(host, 'joined', `10.9.1.${index + 1}/24`);
      ip('-n', between, 'link', 'set', `joined-${host}`, 'master', 'switch');
    }
  });
  after(() => {
    for (const name of [between, ...HOSTS.map(spaceOf)]) removeNamespace(name);
  });

  it('are joined by the one that leads from one to the other, and the report tells of the other', async () => {
    const { text, status, stderr } = await lab.sh(`echo hi | rdpipe --json ${throughPipe()} h1:'tr a-z A-Z' h2:rev`);
    expect({ text, status }, stderr).to.deep.equal({ text: 'IH\n', status: 0 });
    const report: Report = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
    const hop = report.hops.find(({ from, to }) => from === 'h1' && to === 'h2');
    expect(hop?.peer).to.match(/^10\.9\.1\.2:/);
    expect(hop?.cipher).not.to.equal('none');
    expect(hop?.notes[0]).to.match(/^10\.9\.0\.2:.*\(common subnet\)$/);
    expect(hop?.notes[1]).to.match(/^connected by 10\.9\.1\.2:\d+, common subnet$/);
  });

  it('are shown with both in the plan', async () => {
    const { text } = await lab.sh(`rdpipe -n ${throughPipe()} h1:true h2:true`);
    expect(text).to.contain('\n  h1 dials 10.9.0.2 (common subnet)\n  otherwise h1 dials 10.9.1.2 (common subnet)\n');
  });

  /** A host's interface, the other end of which is in the space between. */
  function plugIn(host: string, name: string, address: string): void {
    const [space, far] = [spaceOf(host), `${name}-${host}`];
    ip('-n', between, 'link', 'add', far, 'type', 'veth', 'peer', 'name', name, 'netns', space);
    ip('-n', between, 'link', 'set', far, 'up');
    ip('-n', space, 'address', 'add', address, 'dev', name);
    ip('-n', space, 'link', 'set', name, 'up');
  }

  /** ssh's %n is the alias, after which the host's space and its server's configuration are named. */
  function throughPipe(): string {
    return `-o ProxyCommand='ip netns exec ${spaceOf('%n')} /usr/sbin/sshd -i -f ${lab.homes}/%n.sshd_config'`;
  }
});

function ip(...words: readonly string[]): void {
  execaSync('ip', words);
}
