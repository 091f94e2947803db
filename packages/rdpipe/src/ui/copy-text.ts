/** The text of a copy's sums, the same wherever they are shown. Pure. */
import type { CopyReport, Report } from '../model/report.ts';
import { formatBytes, formatRate } from '../model/units.ts';
import { formatCount, formatDuration } from './format.ts';

/** `Copied 12,345 files, 3.4 GiB in 3.2 s (1.06 GB/s, 3,857 files/s); 40,000 were the same; removed 3; 2 failed`. */
export function copySummary(copy: CopyReport, { seconds }: Pick<Report, 'seconds'>): string {
  const rates = `${formatRate(copy.bytes / seconds)}, ${counted(Math.round(copy.files / seconds), 'file')}/s`;
  const copied = `Copied ${counted(copy.files, 'file')}, ${formatBytes(copy.bytes)} in ${formatDuration(seconds)}`;
  return [
    copy.files > 0 && seconds > 0 ? `${copied} (${rates})` : copied,
    ...(copy.resumedBytes === 0 ? [] : [`${formatBytes(copy.resumedBytes)} were there of an interrupted copy`]),
    ...(copy.same === 0 ? [] : [copy.same === 1 ? '1 was the same' : `${formatCount(copy.same)} were the same`]),
    ...(copy.removed === 0 ? [] : [`removed ${formatCount(copy.removed)}`]),
    ...(copy.failed === 0 ? [] : [`${formatCount(copy.failed)} failed`]),
  ].join('; ');
}

/** `1 file`, `12,345 files`. */
export function counted(number: number, name: string): string {
  return `${formatCount(number)} ${name}${number === 1 ? '' : 's'}`;
}
