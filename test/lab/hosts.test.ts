// SPDX-License-Identifier: Apache-2.0
// The main job from host to host.
import { succeeded } from '../support/shell.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const SHOUT = "'tr a-z A-Z'";

describe('a pipeline over virtual hosts', () => {
  const lab = useVirtualHosts();

  it('runs over TCP', async () =>
    succeeded(await lab.sh(`echo hi | rdpipe --transport tcp h1:${SHOUT} h2:rev`), 'IH\n'));
});
