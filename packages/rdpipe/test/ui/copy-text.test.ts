import { expect } from 'chai';
import { copySummary, hostSummaries, keptText } from '../../src/ui/copy-text.ts';
import { formatClock, formatCount } from '../../src/ui/format.ts';
import { copyReport } from './helpers.ts';

describe('the sums of a copy', () => {
  it('are one line', () => {
    expect(copySummary(copyReport(), { seconds: 3.2 })).to.equal(
      'Copied 12,345 files, 3.4 GiB in 3.2 s (1.062 GiB/s, 3,858 files/s); 40,000 unchanged; removed 3; 2 failed',
    );
  });

  it('omit zero counts', () => {
    const nothing = { files: 0, bytes: 0, same: 0, removed: 0, failed: 0 };
    expect(copySummary(copyReport(nothing), { seconds: 0.1 })).to.equal('Copied 0 files, 0 B in 0.1 s');
    const one = { ...nothing, files: 1, bytes: 5, same: 1, resumedBytes: 1024 };
    expect(copySummary(copyReport(one), { seconds: 1 })).to.equal(
      'Copied 1 file, 5 B in 1.0 s (5 B/s); 1.0 KiB resumed from an interrupted copy; 1 unchanged',
    );
  });
});

describe('what an interrupted copy leaves', () => {
  const part = { path: '/t/big.raw', bytes: 112 * 1024 ** 2, host: 'h2' };

  it('is one line, or nothing', () => {
    expect(keptText(copyReport({ kept: [part] }))).to.equal(
      '12,345 files done, 112.0 MiB of big.raw kept; run the same command to continue',
    );
    expect(keptText(copyReport({ files: 1, kept: [] }))).to.equal('1 file done; run the same command to continue');
    expect(keptText(copyReport({ files: 0, kept: [] }))).to.equal(undefined);
  });
});

describe('the sums of a copy to several hosts', () => {
  const hosts = [
    { host: 'n1', files: 12, bytes: 2048, same: 0, removed: 0, failed: 0 },
    { host: 'n2', files: 0, bytes: 0, same: 40, removed: 3, failed: 1 },
  ];

  it('name the number of hosts, and have a line for each', () => {
    expect(copySummary(copyReport({ hosts }), { seconds: 3.2 })).to.match(
      /^Copied 12,345 files, 3.4 GiB to 2 hosts in/,
    );
    expect(hostSummaries(copyReport({ hosts }))).to.deep.equal([
      'n1: 12 files, 2.0 KiB',
      'n2: 0 files, 0 B; 40 unchanged; removed 3; 1 failed',
    ]);
    expect(hostSummaries(copyReport())).to.deep.equal([]);
  });
});

describe('numbers', () => {
  it('have commas', () => {
    expect([0, 999, 1000, 1234567].map(formatCount)).to.deep.equal(['0', '999', '1,000', '1,234,567']);
  });

  it('are times of a clock', () => {
    expect([0, 9.4, 59.6, 61, 3661].map(formatClock)).to.deep.equal(['0:00', '0:09', '1:00', '1:01', '1:01:01']);
  });
});
