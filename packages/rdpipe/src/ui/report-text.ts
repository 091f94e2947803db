/** The text of a report's parts, for terminal and page. Pure. */

import { cipherWords } from '../model/cipher.ts';
import type { HopReport, StageReport } from '../model/report.ts';
import { formatBytes } from '../model/units.ts';
import { formatDuration } from './format.ts';

/** `h1→h2`, or `within h1`: a link to a file or to the user's own descriptor may stay on one host. */
export function hopName({ from, to }: Pick<HopReport, 'from' | 'to'>): string {
  return from === to ? `within ${from}` : `${from}→${to}`;
}

/** `tcp aes-256-gcm (OpenSSL 3.5.9)`, `rdma mlx5_0 authenticated`; empty if the hop was not connected. */
export function hopCarrier(hop: HopReport): string {
  const { transport, streams, devices, numa, cipher, openssl, result, from, to } = hop;
  if (result === 'not_connected') return '';
  const sockets = streams > 1 ? [`(${streams} streams)`] : [];
  const carrier = [
    transport,
    ...sockets,
    ...(devices.length === 0 ? [] : [[...new Set(devices)].join('→')]),
    ...nodesOf(numa),
  ];
  if (from === to && cipher === 'none') return carrier.join(' ');
  const library = cipher === 'none' || openssl.length === 0 ? [] : [`(OpenSSL ${openssl.join(', ')})`];
  return [...carrier, cipherWords(cipher), ...library].join(' ');
}

/** `node 1`, `node 0→1`, `node any→1`. */
function nodesOf(numa: HopReport['numa']): readonly string[] {
  const nodes = new Set(numa.map((node) => (node === null ? 'any' : `${node}`)));
  return numa.every((node) => node === null) ? [] : [`node ${[...nodes].join('→')}`];
}

/** `3.1 GiB`; for a hop with compression `3.1 GiB, 1.0 GiB on the wire`. */
export function hopBytes({ bytes, compress, wireBytes }: Pick<HopReport, 'bytes' | 'compress' | 'wireBytes'>): string {
  return compress === 0 ? formatBytes(bytes) : `${formatBytes(bytes)}, ${formatBytes(wireBytes)} on the wire`;
}

/** `delivered`, `not connected`. */
export function hopResult({ result }: HopReport): string {
  return result.replace('_', ' ');
}

/** `succeeded`, `failed (exit 3)`. */
export function stageEnd({ state, code, signal }: StageReport): string {
  const status = signal === null ? (code === null ? '' : ` (exit ${code})`) : ` (signal ${signal})`;
  switch (state) {
    case 'succeeded':
      return code === 0 ? state : state + status;
    case 'failed':
      return state + status;
    case 'stopped':
      return 'stopped';
    case 'consumer_closed':
      return 'its reader closed';
    case 'not_started':
      return 'not started';
  }
}

/** Milliseconds as `0.4 s`, `4:05`. */
export function inSeconds(milliseconds: number): string {
  return formatDuration(milliseconds / 1000);
}
