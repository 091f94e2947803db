import { expect } from 'chai';
import { spreadOf } from '../../src/model/statistics.ts';

describe('spreadOf', () => {
  it('finds median, lowest and highest', () => {
    expect(spreadOf([3, 1, 20])).to.deep.equal({ median: 3, low: 1, high: 20 });
    expect(spreadOf([4, 1, 10, 2])).to.deep.equal({ median: 3, low: 1, high: 10 });
    expect(spreadOf([7])).to.deep.equal({ median: 7, low: 7, high: 7 });
  });

  it('returns nothing for no values', () => expect(spreadOf([])).to.equal(undefined));
});
