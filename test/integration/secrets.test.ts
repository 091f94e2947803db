// SPDX-License-Identifier: Apache-2.0
// The keys of hops appear only in the agent's own input.
// The test learns them from an agent that records its input.
import { chmodSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { visibleTexts } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

describe("a hop's key", () => {
  const lab = useLab();

  it('is in no command line, environment, file or message', async () => {
    await lab.write('agent', Buffer.from(`#!/bin/sh\ntee -a '${lab.directory}/told' | '${ROOT}/bin/rdstage' "$@"\n`));
    chmodSync(`${lab.directory}/agent`, 0o755);
    const running = lab.start(`exec rdpipe -vv --agent '${lab.directory}/agent' h1:'echo begun; sleep 1000' h2:cat`);
    await running.printed('begun\n');
    const keys = keysIn((await lab.read('told')).toString());
    expect(keys).to.have.length(2);
    for (const key of keys) {
      for (const form of [
        key,
        Buffer.from(key, 'hex').toString('latin1'),
        Buffer.from(key, 'hex').toString('base64'),
      ]) {
        expect(visibleTexts().filter((text) => text.includes(form))).to.deep.equal([]);
      }
    }
    running.kill('SIGINT');
    const { stderr } = await running.result;
    for (const key of keys) expect(stderr).not.to.include(key);
    await eventually(async () =>
      expect((await lab.sh(`grep -rlE '${keys.join('|')}' ${lab.homes}`)).text).to.equal(''),
    );
  });

  it('is random, and differs from hop to hop and from run to run', async () => {
    await lab.write('agent', Buffer.from(`#!/bin/sh\ntee -a '${lab.directory}/told' | '${ROOT}/bin/rdstage' "$@"\n`));
    chmodSync(`${lab.directory}/agent`, 0o755);
    for (const _ of [1, 2]) await lab.sh(`rdpipe --agent '${lab.directory}/agent' h1:true h2:cat h3:cat`);
    const keys = keysIn((await lab.read('told')).toString());
    expect(keys).to.have.length.at.least(4);
    for (const key of keys) expect(key).to.match(/^[0-9a-f]{64}$/);
  });
});

/** Distinct keys: both ends of a hop get the same one. */
function keysIn(told: string): string[] {
  return [...new Set([...told.matchAll(/"key":"([0-9a-f]+)"/g)].map((match) => match[1] ?? ''))];
}
