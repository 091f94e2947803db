// SPDX-License-Identifier: Apache-2.0
// A serving receiver on h2 and three clients at once, on h1 and h3, over RDMA.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/root.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const KEY = 'umask 077; echo not-much-of-a-secret >/tmp/serve.key';
const URL = 'rd://10.77.0.2:42430';
const FILE_BYTES = 8_000_000;

describe('a serving receiver over RDMA', () => {
  const lab = useVirtualHosts({ longestMs: 120_000 });

  it('serves three clients at once', async () => {
    const serve = `${KEY}; mkdir -p /tmp/served; exec ${ROOT}/bin/rdrecv --serve /tmp/served --port 42430 --keyfile /tmp/serve.key`;
    const server = lab.start(`exec on h2 '${serve} 2>&1'`);
    await eventually(async () => {
      const up = await lab.sh(`on h1 'exec 3<>/dev/tcp/10.77.0.2/42430'`);
      if (up.status !== 0) throw new Error(up.text);
    }, 60_000);
    const clients = [
      ['h1', 'one'],
      ['h1', 'two'],
      ['h3', 'three'],
    ].map(async ([host, name]) => {
      const make = `mkdir -p /tmp/${name}; head -c ${FILE_BYTES} /dev/urandom >/tmp/${name}/file`;
      const rdcp = `${ROOT}/bin/rdcp -v -a --transport rdma --keyfile /tmp/serve.key`;
      const there = `${rdcp} /tmp/${name} ${URL}/`;
      const back = `${rdcp} ${URL}/${name}/ /tmp/${name}.back`;
      return lab.sh(
        `on ${host} '${KEY}; ${make}; ${there} && ${back} && cmp /tmp/${name}/file /tmp/${name}.back/file' 2>&1`,
      );
    });
    for (const { status, text } of await Promise.all(clients)) {
      expect(status, text).to.equal(0);
      expect(text).to.match(/rdma/i);
    }
    await lab.sh(`on h2 'kill $(pgrep -o -x rdrecv)'`);
    const { text } = await server.result;
    expect(text.match(/: complete, /g), text).to.have.length(6);
  });
});
