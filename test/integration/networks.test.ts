// SPDX-License-Identifier: Apache-2.0
// Hosts that ssh reaches through a pipe, so that it reports no address.
// They have two common subnets: one network connects the hosts, the other only has equal numbers at both ends.
import { expect } from 'chai';
import { execaSync } from 'execa';
import { useLab } from '../support/lab.ts';
import { makeNamespace, ownNamespaces, removeNamespace } from '../support/namespaces.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';

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

  it('are joined over the network that connects them, and the report mentions the other', async () => {
    const { text, status, stderr } = await lab.sh(`echo hi | rdpipe --json ${throughPipe()} h1:'tr a-z A-Z' h2:rev`);
    expect({ text, status }, stderr).to.deep.equal({ text: 'IH\n', status: 0 });
    const report = reportOf({ stderr });
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

  it('use all given addresses at the same time, as far as they connect them', async () => {
    for (const [index, host] of HOSTS.entries())
      ip('-n', spaceOf(host), 'address', 'add', `10.9.2.${index + 1}/24`, 'dev', 'joined');
    for (const addresses of ['10.9.1.2,10.9.2.2', '10.9.0.2,10.9.1.2']) {
      const streams = addresses.startsWith('10.9.0') ? 1 : 2;
      const carries = (address: string) => `ss -Htni state established dst ${address} | grep -Eq bytes_acked:.{6}`;
      const all = addresses.split(',').slice(-streams).map(carries).join(' && ');
      const stages = `h1:'until ${all}; do head -c 1000000 /dev/zero; done' h2:'wc -c'`;
      const { status, stderr } = await lab.sh(`rdpipe --json --data h2=${addresses} ${throughPipe()} ${stages}`);
      expect(status, stderr).to.equal(0);
      const hop = reportOf({ stderr }).hops.find(({ from, to }) => from === 'h1' && to === 'h2');
      expect(hop).to.deep.include({ streams, reconnects: 0, notes: [] });
    }
  });

  /** Adds an interface to a host; its peer is in the namespace between the hosts. */
  function plugIn(host: string, name: string, address: string): void {
    const [space, far] = [spaceOf(host), `${name}-${host}`];
    ip('-n', between, 'link', 'add', far, 'type', 'veth', 'peer', 'name', name, 'netns', space);
    ip('-n', between, 'link', 'set', far, 'up');
    ip('-n', space, 'address', 'add', address, 'dev', name);
    ip('-n', space, 'link', 'set', name, 'up');
  }

  /** ssh replaces %n by the alias, which names the host's namespace and its server's configuration. */
  function throughPipe(): string {
    return `-o ProxyCommand='ip netns exec ${spaceOf('%n')} /usr/sbin/sshd -i -f ${lab.homes}/%n.sshd_config'`;
  }
});

function ip(...words: readonly string[]): void {
  execaSync('ip', words);
}
