// SPDX-License-Identifier: Apache-2.0
// Users who may lock little memory: RDMA uses a smaller buffer, or TCP is used instead,
// and the report gives the reason.
import { expect } from 'chai';
import { succeededOver } from '../lab/report.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { failed } from '../support/shell.ts';

const KIB = 1024;
const MEMLOCK = 8192 * KIB;

describe('a user whose memory is limited', () => {
  const lab = useVirtualHosts();

  it('has a smaller buffer and a warning', async () => {
    const result = await lab.sh("rdpipe --json --buffer 32MiB ann1:'head -c 1M /dev/zero' ann2:'wc -c'");
    const { hops } = succeededOver(result, '1048576\n', ['rdma', 'tcp']);
    expect(hops[0]?.warnings.join())
      .to.match(/ann1: buffer .*memlock/)
      .and.to.match(/ann2: buffer .*memlock/);
  });

  describe('to almost nothing', () => {
    before(() => limitSessions(64 * KIB));
    after(() => limitSessions(MEMLOCK));

    it('has TCP, and the reason for it', async () => {
      const result = await lab.sh("rdpipe --json ann1:'echo hi' ann2:rev");
      succeededOver(result, 'ih\n', ['tcp', 'tcp']);
      expect(result.stderr).to.match(/"why":"tcp \([^"]*memlock[^"]*ann2/);
    });

    it('gets the next step with --transport rdma', async () =>
      failed(
        await lab.sh("rdpipe --transport rdma ann1:'echo hi' ann2:cat > /dev/null"),
        125,
        /memlock.*limits\.d|limits\.d.*memlock/,
      ));
  });

  /** Limits the lockable memory of users who log in to h2 from now on. */
  function limitSessions(bytes: number): Promise<string> {
    return lab.on('h2', `prlimit --pid $(cat /run/sshd.pid) --memlock=${bytes}`);
  }
});
