// SPDX-License-Identifier: Apache-2.0
// Runs whose hops break: in mid-stream, before the final acknowledgement,
// after the reader has gone.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { useCabledLab } from '../support/cabled-lab.ts';
import { eventually } from '../support/eventually.ts';
import { limitWords, NEVER, type RunLimits, stallSoon } from '../support/run-limits.ts';
import { failed, type Running } from '../support/shell.ts';
import { chainGoesOn } from './reconnect-run.ts';

const MIB = 1024 * 1024;
/** Length of an outage. */
const AWAY_MS = 1500;

describe('a run whose hops break', () => {
  const lab = useCabledLab();
  afterEach(() => lab.cables.renew());

  it('loses nothing, 4 times each', () => chainGoesOn(lab, { between: 32 * MIB, times: 4 }));

  it('fails when the acknowledgement of a complete file is lost, and reports that it is complete', async () => {
    const running = await lastWordIsLost(stallSoon());
    failed(await running.result, 125, /h2: file is complete/);
    expect((await lab.read('target')).toString()).to.equal('all\n');
  });

  it('succeeds when that acknowledgement arrives late', async () => {
    const running = await lastWordIsLost(NEVER);
    await delay(AWAY_MS);
    lab.cables.mend();
    expect((await running.result).status).to.equal(0);
    expect((await lab.read('target')).toString()).to.equal('all\n');
  });

  it('succeeds when its last stage has closed meanwhile', async () => {
    const running = await lastStageCloses();
    lab.cables.mend();
    await succeeds(running);
  });

  it('succeeds when its last stage has closed meanwhile, and nothing connects them again', async () => {
    await succeeds(await lastStageCloses());
  });

  /** The last stage closes its input while its host cannot reach h1; h1 notices the broken connection. */
  async function lastStageCloses(): Promise<Running> {
    const consumer = `h2:'cd ${lab.directory}; head -c 1M > seen; until test -e close; do sleep 0.05; done; touch gone'`;
    const running = start(stallSoon(), `h1:'cat /dev/zero' ${consumer}`);
    await eventually(async () => expect(await lab.read('seen')).to.have.length(MIB));
    lab.cables.setCable('h2', 'data', 'down');
    writeFileSync(`${lab.directory}/close`, '');
    await eventually(() => expect(existsSync(`${lab.directory}/gone`)).to.equal(true));
    lab.cables.breakConnections('h1', 'h2', 'data');
    return running;
  }

  async function succeeds(running: Running): Promise<void> {
    const { status, stderr } = await running.result;
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  }

  /** The output file is complete, but h1 receives no more packets from h2. */
  async function lastWordIsLost(limits: RunLimits): Promise<Running> {
    const source = `h1:'cd ${lab.directory}; echo all; touch begun; until test -e end; do sleep 0.05; done'`;
    const running = start(limits, `${source} h2:'> ${lab.directory}/target'`);
    await eventually(() => expect(existsSync(`${lab.directory}/begun`)).to.equal(true));
    lab.cables.drop('h2', 'h1', 'data');
    writeFileSync(`${lab.directory}/end`, '');
    await eventually(() => expect(existsSync(`${lab.directory}/target`)).to.equal(true));
    return running;
  }

  function start(limits: RunLimits, stages: string): Running {
    return lab.start(`exec rdpipe ${limitWords(limits)} ${lab.overData('h1', 'h2')} ${stages} > /dev/null`);
  }
});
