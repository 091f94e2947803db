import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createProgramSources, type Offer, type Outcome, type Turn } from '../../src/agent/program-sources.ts';

describe('the sources of the programs', () => {
  const closed: string[] = [];
  beforeEach(() => closed.splice(0));

  const offerOf = (label: string): Offer => ({
    label,
    address: '192.0.2.1',
    port: 1,
    token: '00',
    close: () => void closed.push(label),
  });
  /** Hosts that need the programs, in order; `froms` tells from where those whose turn it is get them. */
  const createHosts = (sources = createProgramSources()) => {
    const turns: Turn[] = [];
    const need = (count: number, canFetch = true) => {
      for (let host = 0; host < count; host++)
        void sources.take('d16e57', canFetch, new AbortController().signal).then((turn) => turns.push(turn));
    };
    const froms = async (): Promise<string[]> => {
      await setImmediate();
      return turns.map(({ offer }) => offer?.label ?? 'here');
    };
    const end = (index: number, outcome: Outcome = 'worked') => turns[index]?.end(outcome);
    const add = (label: string, open = async () => offerOf(label)) => sources.add('d16e57', open);
    return { need, froms, end, add };
  };
  const HERE = ['here', 'here', 'here', 'here'];

  it('are this machine for the first hosts, and the others wait', async () => {
    const { need, froms, end } = createHosts();
    need(6);
    expect(await froms()).to.deep.equal(HERE);
    end(0);
    expect(await froms()).to.deep.equal([...HERE, 'here']);
  });

  it('are a host that got them as soon as this machine is busy', async () => {
    const { need, froms, add } = createHosts();
    need(6);
    add('h1');
    expect(await froms()).to.deep.equal([...HERE, 'h1']);
  });

  it('are only hosts once one of these has worked, a few at a time for each', async () => {
    const { need, froms, add, end } = createHosts();
    need(12);
    add('h1');
    expect(await froms()).to.deep.equal([...HERE, 'h1']);
    for (const index of [0, 1, 2, 3, 4]) end(index);
    const four = ['h1', 'h1', 'h1', 'h1'];
    expect((await froms()).slice(4)).to.deep.equal(['h1', ...HERE, ...four.slice(0, 3)]);
  });

  it('are this machine for one more host if all hosts that get them from others hang', async () => {
    const { need, froms, add, end } = createHosts();
    need(5);
    add('h1');
    await froms();
    for (const index of [0, 1, 2, 3, 4]) end(index);
    need(6);
    expect((await froms()).slice(5).sort()).to.deep.equal(['h1', 'h1', 'h1', 'h1', 'here']);
  });

  it('are this machine again if no host can be reached', async () => {
    const { need, froms, add, end } = createHosts();
    need(5);
    add('h1');
    expect(await froms()).to.deep.equal([...HERE, 'h1']);
    need(1);
    end(4, 'failed');
    expect(await froms()).to.deep.equal([...HERE, 'h1']);
    end(0);
    expect((await froms()).slice(5)).to.deep.equal(['here']);
    expect(closed).to.deep.equal(['h1']);
  });

  it('do not cut off other hosts if one cannot get them there', async () => {
    const { need, froms, add, end } = createHosts();
    need(5);
    add('h1');
    await froms();
    end(4);
    need(2);
    expect((await froms()).slice(5)).to.deep.equal(['h1', 'h1']);
    closed.splice(0);
    end(5, 'failed');
    await froms();
    expect(closed).to.deep.equal([]);
    end(6);
    await froms();
    expect(closed).to.deep.equal(['h1']);
  });

  it('remain good if hosts are lost that get them there, and count no trial', async () => {
    const { need, froms, add, end } = createHosts();
    need(9);
    add('h1');
    for (const index of [4, 5, 6, 7]) {
      expect((await froms()).slice(index)).to.deep.equal(['h1']);
      end(index, 'lost');
    }
    expect((await froms()).slice(8)).to.deep.equal(['h1']);
  });

  it('are only this machine after the first hosts could not be reached', async () => {
    const { need, froms, add, end } = createHosts();
    need(9);
    for (const label of ['h1', 'h2', 'h3', 'h4', 'h5']) add(label);
    expect(await froms()).to.deep.equal([...HERE, 'h1', 'h2', 'h3']);
    for (const index of [4, 5, 6]) end(index, 'failed');
    for (const index of [0, 1, 2, 3]) end(index);
    expect((await froms()).slice(7)).to.deep.equal(['here', 'here']);
  });

  it('do not include a host that cannot give them', async () => {
    const { need, froms, add, end } = createHosts();
    need(5);
    add('h1', () => Promise.reject(new Error('no shell')));
    expect(await froms()).to.deep.equal(HERE);
    add('h2');
    expect(await froms()).to.deep.equal([...HERE, 'h2']);
    end(0);
    expect(await froms()).to.have.length(5);
  });

  it('are this machine for a host that cannot reach others', async () => {
    const { need, froms, add, end } = createHosts();
    need(4);
    need(1, false);
    add('h1');
    expect(await froms()).to.deep.equal(HERE);
    end(0);
    expect(await froms()).to.deep.equal([...HERE, 'here']);
  });

  it('end when no host needs them, and begin again', async () => {
    const { need, froms, add, end } = createHosts();
    need(5);
    add('h1');
    await froms();
    end(4);
    expect(closed).to.deep.equal([]);
    await froms();
    expect(closed).to.deep.equal(['h1']);
    need(1);
    expect((await froms()).slice(5)).to.deep.equal(['h1']);
  });

  it('forget a host that was given up', async () => {
    const sources = createProgramSources();
    const { need, froms, end } = createHosts(sources);
    need(4);
    const run = new AbortController();
    const givenUp = sources.take('d16e57', true, run.signal).catch(String);
    run.abort(new Error('given up'));
    expect(await givenUp).to.equal('Error: given up');
    need(1);
    await froms();
    end(0);
    expect(await froms()).to.deep.equal([...HERE, 'here']);
  });
});
