// SPDX-License-Identifier: Apache-2.0
// Every flood of messages from a hostile host, over both kinds of ssh.
import { expectFloodBorne, FLOODS } from '../attacks/agent/floods.ts';
import { useHostileLab } from '../attacks/agent/hostile-lab.ts';

describe('a host that sends endless', () => {
  const hostile = useHostileLab();
  for (const ssh of ['openssh', 'ssh2'])
    for (const flood of FLOODS) it(`${flood.name} (${ssh})`, () => expectFloodBorne(hostile, flood, `--ssh ${ssh}`));
});
