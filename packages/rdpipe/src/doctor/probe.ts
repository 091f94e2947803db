/** The probe: a second of data from one host to another, as an ordinary pipeline. Pure. */
import { cipherWords } from '../model/cipher.ts';
import type { Finding, Measurement } from '../model/examination.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';
import type { AgentHello, Transport } from '../model/protocol.ts';
import type { HopReport, Report } from '../model/report.ts';
import { forMeasuring, type Settings } from '../model/settings.ts';
import { formatMbps, formatRate } from '../model/units.ts';
import { RELAYED } from '../plan/tcp-route.ts';
import { fail, ok, warn } from './finding.ts';

/** The exit status of timeout(1) after the second. */
const TIMED_OUT = 124;
/** With busybox's timeout, the command itself ends by SIGTERM, which only a shell makes a status. */
const TERMINATED = 143;
/** Enough for the data in flight after the second, over the slowest link. */
const LONGEST_MS = 60_000;

/** A pipeline that sends zeros from one host to another for a second. */
export function probePipeline(from: HostRef, to: HostRef): Pipeline {
  return {
    stages: [
      commandStage(1, from, 'timeout 1 cat /dev/zero; exit $?', [0, TIMED_OUT, TERMINATED]),
      commandStage(2, to, 'cat >/dev/null'),
    ],
  };
}

/** The settings of a probe over one transport. */
export function probeSettings(settings: Settings, transport: Transport): Settings {
  return { ...forMeasuring(settings), transport, timeoutMs: LONGEST_MS };
}

/** Both ends of a probe. */
export interface ProbeEnds {
  readonly from: string;
  readonly to: string;
  readonly hellos: readonly [AgentHello, AgentHello];
}

export interface ProbeResult {
  readonly finding: Finding;
  readonly measured: Measurement | undefined;
  /** True if no direct candidate of TCP connected. */
  readonly isApart?: boolean;
}

/**
 * Turns a probe's report into a finding. If the first candidate did not connect, the finding suggests a firewall.
 */
export function judgeProbe(transport: Transport, ends: ProbeEnds, report: Report): ProbeResult {
  const check = checkName(transport, ends);
  const hop = report.hops.find(({ link }) => link === 1);
  if (report.status !== 0 || hop === undefined) {
    return failedProbe(transport, ends, report.message ?? 'no data was sent');
  }
  const measured = measurementOf(transport, ends, hop);
  const found = describe(measured, hop);
  if (hop.notes.length === 0) return { finding: ok(check, found), measured };
  const direct = hop.notes.filter((note) => !note.startsWith(RELAYED));
  if (direct.length < hop.notes.length) {
    return { finding: withoutPath(check, ends, direct, found), measured, isApart: true };
  }
  return { finding: warn(check, [found, ...hop.notes].join('; '), firewallFix(transport, ends)), measured };
}

/** The finding for a probe that failed. */
export function failedProbe(transport: Transport, ends: ProbeEnds, message: string): ProbeResult {
  const relay = transport === 'tcp' ? `; ${RELAY_HOST}` : '';
  const finding = fail(checkName(transport, ends), message, `${firewallFix(transport, ends)}${relay}`);
  return { finding, measured: undefined, isApart: transport === 'tcp' };
}

/** @param direct the reasons why direct candidates were refused; empty if no address is known */
function withoutPath(check: string, ends: ProbeEnds, direct: readonly string[], found: string): Finding {
  const tried = direct.length === 0 ? 'no address is known' : direct.join('; ');
  const fix = `${firewallFix('tcp', ends)}; ${RELAY_HOST}; use --relay never to fail instead`;
  return warn(check, `no direct path: ${tried}; ${RELAYED}: ${found}`, fix);
}

const RELAY_HOST = 'use --relay HOST to send data through a host that both can reach, or that can reach both';

function checkName(transport: Transport, { from, to }: ProbeEnds): string {
  return `${transport} ${from}→${to}`;
}

function firewallFix(transport: Transport, { to }: ProbeEnds): string {
  const address = `or use another address: --data ${to}=ADDRESS`;
  if (transport === 'rdma') return `open UDP port 4791 (RoCE v2) in the firewalls in both directions, ${address}`;
  return `open TCP ports in the firewalls in both directions and choose them with -p 40000-40100, ${address}`;
}

function measurementOf(transport: Transport, { from, to, hellos }: ProbeEnds, hop: HopReport): Measurement {
  const nominal = [nominalMbps(transport, hellos[0], hop.local), nominalMbps(transport, hellos[1], hop.peer)];
  const known = nominal.filter((mbps) => mbps !== null);
  const nominalOfBoth = known.length === 0 ? null : Math.min(...known);
  return { from, to, transport, bytesPerSecond: hop.bytesPerSecond, rttUs: hop.rttUs, nominalMbps: nominalOfBoth };
}

/** The nominal rate of an address's interface or port. `place` is `10.0.0.1:40123` or `[2001:db8::1]:40123`. */
function nominalMbps(transport: Transport, { addresses, rdma }: AgentHello, place: string | null): number | null {
  const host = place?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const entry = addresses.find(({ address }) => address === host);
  if (entry === undefined) return null;
  if (transport === 'tcp') return entry.speed_mbps;
  const rate = rdma.find((port) => port.interface === entry.interface && port.state === 'active')?.rate_mbps ?? 0;
  return rate > 0 ? rate : null;
}

/** `8.968 Gb/s of 10 Gb/s (90 %), round trip 0.09 ms, aes-256-gcm`. */
function describe({ bytesPerSecond, rttUs, nominalMbps: mbps }: Measurement, hop: HopReport): string {
  const measured = bytesPerSecond / 125_000;
  const share = mbps === null ? '' : ` of ${formatMbps(mbps)} (${Math.round((measured * 100) / mbps)} %)`;
  return [
    mbps === null ? formatRate(bytesPerSecond) : `${formatMbps(measured)}${share}`,
    ...(rttUs === null ? [] : [`round trip ${(rttUs / 1000).toFixed(2)} ms`]),
    cipherWords(hop.cipher),
    ...hop.warnings,
  ].join(', ');
}
