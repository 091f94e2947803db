import { expect } from 'chai';
import { runPage } from '../../../src/ui/pages/run.ts';
import { copyReport, report } from '../helpers.ts';

function pageOf(changes: Parameters<typeof report>[0]): string {
  const history = { plan: undefined, hops: [], stderr: [], warnings: [] };
  return runPage({ command: ['rdcp a b'], plan: [], began: new Date(0), history, report: report(changes) });
}

describe('the page of a copy', () => {
  it('has its sums, its failures and the slowest paths, as text', () => {
    const copy = copyReport({ failed: 7, warnings: [{ host: 'h2', message: 'owners <stay>' }] });
    const page = pageOf({ copy, status: 23, cause: 'copy', message: '7 paths failed' });
    expect(page).to.contain('<title>rdcp: failed</title>').and.to.contain('Copied 12,345 files');
    expect(page)
      .to.contain('d/&#60;b&#62;')
      .and.to.contain('changed while it was read')
      .and.to.contain('5 more failed');
    expect(page).to.contain('Slowest files').and.to.contain('d/big').and.to.contain('2.000 GiB/s');
    expect(page).to.contain('h2: owners &#60;stay&#62;').and.not.to.contain('Slowest directories');
  });

  it('is not the page of a pipeline', () => {
    expect(pageOf({})).to.contain('<title>rdpipe: succeeded</title>').and.not.to.contain('<h2>Copy</h2>');
  });
});
