/** The section of a page about a copy: its sums, failures and slowest paths. Pure. */
import type { CopyReport, Report, SlowPath } from '../../model/report.ts';
import { formatBytes, formatRate } from '../../model/units.ts';
import { copySummary } from '../copy-text.ts';
import { formatCount, formatDuration } from '../format.ts';
import { type Html, html, table } from './html.ts';

/** Empty if the run was not a copy. */
export function copySection(report: Report): Html | string {
  const { copy } = report;
  if (copy === undefined) return '';
  return html`<h2>Copy</h2>
<p>${copySummary(copy, report)}.</p>
${hostsOf(copy)}
${failuresOf(copy)}
${slowestOf('files', copy.slowestFiles)}
${slowestOf('directories', copy.slowestDirectories)}
${warningsOf(copy)}`;
}

function hostsOf({ hosts }: CopyReport): Html | string {
  if (hosts === undefined) return '';
  const rows = hosts.map(({ host, files, bytes, same, removed, failed }) => [
    host,
    formatCount(files),
    formatBytes(bytes),
    ...[same, removed, failed].map(formatCount),
  ]);
  return html`<h3>Hosts</h3>\n${table(['host', 'files', 'bytes', 'unchanged', 'removed', 'failed'], rows)}`;
}

function failuresOf({ failed, failures }: CopyReport): Html | string {
  if (failed === 0) return '';
  const rows = failures.map(({ path, host, message }) => [path, host, message]);
  const more = failed - failures.length;
  return html`<h3>Failed</h3>
${table(['path', 'host', 'reason'], rows)}
${more === 0 ? '' : html`<p>${formatCount(more)} more failed.</p>`}`;
}

function slowestOf(kind: string, paths: readonly SlowPath[]): Html | string {
  if (paths.length === 0) return '';
  const rows = paths.map(({ path, host, bytes, ms }) => [
    path,
    host,
    formatBytes(bytes),
    ms < 100 ? `${ms} ms` : formatDuration(ms / 1000),
    ms === 0 ? '' : formatRate((bytes * 1000) / ms),
  ]);
  return html`<h3>Slowest ${kind}</h3>\n${table(['path', 'host', 'size', 'time', 'rate'], rows)}`;
}

function warningsOf({ warnings }: CopyReport): Html | string {
  if (warnings.length === 0) return '';
  return html`<h3>Warnings</h3>\n<ul>${warnings.map(({ host, message }) => html`<li>${host}: ${message}</li>`)}</ul>`;
}
