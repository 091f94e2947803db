/** The text of a copy's sums, for terminal and page. Pure. */
import type { CopyHost, CopyReport, Report } from '../model/report.ts';
import { formatBytes, formatRate } from '../model/units.ts';
import { formatCount, formatDuration } from './format.ts';

/** `Copied 12,345 files, 3.4 GiB in 3.2 s (1.062 GiB/s, 3,858 files/s); 40,000 unchanged; removed 3; 2 failed`. */
export function copySummary(copy: CopyReport, { seconds }: Pick<Report, 'seconds'>): string {
  const perSecond = Math.round(copy.files / seconds);
  const filesRate = copy.files > 1 && perSecond > 0 ? [`${counted(perSecond, 'file')}/s`] : [];
  const rates = [formatRate(copy.bytes / seconds), ...filesRate];
  const to = copy.hosts === undefined ? '' : ` to ${copy.hosts.length} hosts`;
  const copied = `Copied ${counted(copy.files, 'file')}, ${formatBytes(copy.bytes)}${to} in ${formatDuration(seconds)}`;
  return [
    copy.files > 0 && seconds > 0 ? `${copied} (${rates.join(', ')})` : copied,
    ...(copy.resumedBytes === 0 ? [] : [`${formatBytes(copy.resumedBytes)} resumed from an interrupted copy`]),
    ...otherSums(copy),
    ...(copy.unsynced ? ['not synced to disk'] : []),
  ].join('; ');
}

/** `12,345 files done, 112.0 MiB of big.raw kept; run the same command to continue`; undefined: nothing was done. */
export function keptText({ files, kept = [] }: CopyReport): string | undefined {
  const [part] = kept;
  const name = part?.path.split('/').at(-1);
  const parts = part === undefined ? [] : [`${formatBytes(part.bytes)} of ${name} kept`];
  if (files === 0 && part === undefined) return undefined;
  return `${[`${counted(files, 'file')} done`, ...parts].join(', ')}; run the same command to continue`;
}

/** `n1: 12 files, 3.4 MiB; 40 unchanged`: a line per host, if the target is on several hosts. */
export function hostSummaries({ hosts = [] }: CopyReport): readonly string[] {
  return hosts.map((host) => {
    const copied = `${host.host}: ${counted(host.files, 'file')}, ${formatBytes(host.bytes)}`;
    return [copied, ...otherSums(host)].join('; ');
  });
}

function otherSums({ same, removed, failed }: Pick<CopyHost, 'same' | 'removed' | 'failed'>): readonly string[] {
  return [
    ...(same === 0 ? [] : [`${formatCount(same)} unchanged`]),
    ...(removed === 0 ? [] : [`removed ${formatCount(removed)}`]),
    ...(failed === 0 ? [] : [`${formatCount(failed)} failed`]),
  ];
}

/** `1 file`, `12,345 files`. */
export function counted(number: number, name: string): string {
  return `${formatCount(number)} ${name}${number === 1 ? '' : 's'}`;
}
