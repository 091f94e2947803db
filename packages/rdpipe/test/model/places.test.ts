import { expect } from 'chai';
import { linkGroups, placesOf } from '../../src/model/places.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { wideInputFor } from '../plan/helpers.ts';

describe('places', () => {
  const plan = makePlan(wideInputFor(['h1:< f', 'n[1-3]:gzip', 'n[1-3]:cat', 'n[1-3]:> f']));
  const places = placesOf(plan);

  it('are the position and rank of a stage', () => {
    const stages = plan.segments.flatMap((segment) => segment.stages.map(({ stage }) => stage));
    expect(stages.map(({ number, host }) => [host.label, places.stages.get(number)])).to.deep.equal([
      ['h1', { stage: 1 }],
      ...[2, 3, 4].flatMap((stage) => [0, 1, 2].map((rank) => [`n${rank + 1}`, { stage, rank }])),
    ]);
  });

  it('group the links of the hosts of one stage, in the order of the data', () => {
    const groups = plan.segments.flatMap(linkGroups);
    const ranks = groups.map((links) => links.map(({ number }) => places.links.get(number)));
    expect(ranks).to.deep.equal([2, 3, 4].map((stage) => [0, 1, 2].map((rank) => ({ stage, rank }))));
  });
});
