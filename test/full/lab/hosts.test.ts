// SPDX-License-Identifier: Apache-2.0
// Pipelines from host to host. The user's machine has no RDMA: the first and the last hop are TCP.
// rdma-hosts has more tests.
import { expect } from 'chai';
import { protectionOf } from '../../../packages/rdpipe/src/model/cipher.ts';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { failed } from '../../support/shell.ts';

const SHOUT = "'tr a-z A-Z'";
/** MD5 of the output of `seq 1000000`. */
const MD5_OF_SEQ = '8a7095c1c23bfadc311fe6b16d950582';

describe('a pipeline over virtual hosts', () => {
  const lab = useVirtualHosts();

  it('runs over RDMA with IPv6 addresses', async () => {
    const result = await lab.sh(`echo hi | rdpipe --json h1v6:${SHOUT} h2v6:rev`);
    succeededOver(result, 'IH\n', ['tcp', 'rdma', 'tcp']);
  });

  it('encrypts data over RDMA if requested', async () => {
    const result = await lab.sh("rdpipe --json --encrypt always h1:'echo hi' h2:rev");
    const { hops } = succeededOver(result, 'ih\n', ['rdma', 'tcp']);
    expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['seal', 'seal']);
  });

  it('sends data over RDMA without a MAC if requested', async () => {
    const result = await lab.sh("rdpipe --json --encrypt never h1:'echo hi' h2:rev");
    const { hops } = succeededOver(result, 'ih\n', ['rdma', 'tcp']);
    expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['none', 'none']);
  });

  for (const compress of ['none', 'zstd'])
    it(`authenticates many frames over RDMA, --compress ${compress}`, async () => {
      const options = `--encrypt auth --compress ${compress}`;
      const result = await lab.sh(`rdpipe --json ${options} h1:'seq 1000000' h2:'md5sum | cut -c 1-32'`);
      const { hops } = succeededOver(result, `${MD5_OF_SEQ}\n`, ['rdma', 'tcp']);
      expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['mac', 'mac']);
    });

  it('shows in its plan which hops use RDMA and why', async () => {
    const { text, status } = await lab.sh('rdpipe -n h1:true h2:true');
    expect(status).to.equal(0);
    expect(text).to.match(/rdma rxe0 .*, authenticated, not encrypted \(the default of RDMA\)/);
  });

  it('never falls back from --transport rdma', async () =>
    failed(await lab.sh('echo hi | rdpipe --transport rdma h1:cat h2:cat'), 125, /rdma/i));
});
