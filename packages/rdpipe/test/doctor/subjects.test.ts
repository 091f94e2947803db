import { expect } from 'chai';
import { chooseSubjects } from '../../src/doctor/subjects.ts';
import { parseHostRef } from '../../src/parse/host-ref.ts';
import { AUTO, RDMA, TCP } from './samples.ts';

const ROWS: readonly (readonly [written: string, hosts: string, pairs: string])[] = [
  ['h1', 'this machine, h1', 'this machine-h1'],
  ['h1 h2', 'h1, h2', 'h1-h2'],
  ['h1 h2 h3', 'h1, h2, h3', 'h1-h2, h2-h3'],
  ['h1 h2 h1', 'h1, h2', 'h1-h2'],
  ['h1 h1 h2', 'h1, h2', 'h1-h2'],
  ['h1 ann@h1', 'h1, ann@h1', 'h1-ann@h1'],
];

describe('the subjects of an examination', () => {
  for (const [written, hosts, pairs] of ROWS) {
    it(`of ${written}`, () => {
      const subjects = chooseSubjects(written.split(' ').map(parseHostRef), AUTO);
      expect(subjects.hosts.map(({ host }) => host.label).join(', ')).to.equal(hosts);
      expect(subjects.pairs.map(({ from, to }) => `${from.label}-${to.label}`).join(', ')).to.equal(pairs);
    });
  }

  it('are only this machine, if nothing else is requested', () => {
    const { hosts, pairs } = chooseSubjects([parseHostRef('')], AUTO);
    expect([hosts.map(({ host }) => host.label), pairs]).to.deep.equal([['this machine'], []]);
  });

  it('require RDMA only of the hosts that were named', () => {
    const transports = (wanted: typeof AUTO) => {
      const { hosts, pairs } = chooseSubjects([parseHostRef('h1')], wanted);
      return [...hosts, ...pairs].map((subject) => subject.wanted.transport);
    };
    expect(transports(RDMA)).to.deep.equal(['auto', 'rdma', 'auto']);
    expect(transports(TCP)).to.deep.equal(['tcp', 'tcp', 'tcp']);
  });
});
