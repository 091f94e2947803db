/** The part of the report about a copy, from the events of its programs. Pure. */
import type { CopyHost, CopyReport, FailedPath, KeptPart, SlowPath } from '../model/report.ts';
import { sumOfTotals, type TreeRole } from '../model/tree.ts';
import { KEPT_MAX, type ProgramState, type SlowPaths } from './program-state.ts';
import type { RunState } from './state.ts';

/** Returns the totals of a copy, so far or at its end; undefined if no stage is a copy program. */
export function copyReport(state: RunState): CopyReport | undefined {
  const programs = programsOf(state);
  if (programs.length === 0) return undefined;
  const totalsOf = (...roles: readonly TreeRole[]) =>
    sumOfTotals(programs.flatMap(({ role, totals }) => (totals !== undefined && roles.includes(role) ? totals : [])));
  const done = totalsOf('write', 'copy') ?? totalsOf('compare');
  const hosts = hostsOf(programs);
  return {
    ...(hosts.length === 0 ? {} : { hosts }),
    found: totalsOf('scan')?.entries ?? 0,
    files: done?.files ?? 0,
    directories: done?.directories ?? 0,
    links: done?.links ?? 0,
    bytes: done?.bytes ?? 0,
    same: totalsOf('compare')?.same ?? 0,
    sameFiles: totalsOf('compare')?.same_files ?? 0,
    sameBytes: totalsOf('compare')?.same_bytes ?? 0,
    link: programs.find(({ role }) => role === 'read')?.out ?? null,
    removed: done?.removed ?? 0,
    failed: programs.reduce((sum, { failed }) => sum + failed, 0),
    failures: programs.flatMap(failuresOf).slice(0, KEPT_MAX),
    sentBytes: done?.sent_bytes ?? 0,
    resumedBytes: done?.resumed_bytes ?? 0,
    ownersRefused: done?.owners_refused ?? 0,
    slowestFiles: slowestOf('files', programs),
    slowestDirectories: slowestOf('directories', programs),
    warnings: programs.flatMap(({ host, warnings }) => warnings.map((message) => ({ host, message }))),
    ...(programs.some(({ sync }) => sync === false) ? { unsynced: true } : {}),
    ...(isInterrupted(programs) ? { kept: programs.flatMap(keptOf) } : {}),
  };
}

/** A program that writes has not come to its end. */
function isInterrupted(programs: readonly Program[]): boolean {
  return programs.some(({ role, totals }) => (role === 'write' || role === 'copy') && totals?.done === false);
}

interface Program extends ProgramState {
  readonly role: TreeRole;
  readonly sync: boolean | undefined;
  readonly host: string;
  readonly out: number | undefined;
  /** Position among several target hosts. */
  readonly rank: number | undefined;
}

function programsOf(state: RunState): readonly Program[] {
  return state.stages.values().flatMap(({ planned: { stage, out }, host, program }) => {
    if (stage.kind !== 'tree') return [];
    const { role, sync } = stage.settings;
    return [{ ...program, role, sync, host, out, rank: stage.part?.rank }];
  });
}

/** Returns an empty list if the target is on one host. */
function hostsOf(programs: readonly Program[]): readonly CopyHost[] {
  const compares = programs.filter(({ role, rank }) => role === 'compare' && rank !== undefined);
  return compares.map((compare) => {
    const own = programs.filter(({ rank }) => rank === compare.rank);
    const write = own.find(({ role }) => role === 'write');
    const { files = 0, bytes = 0 } = write?.totals ?? {};
    const { removed = 0 } = (write ?? compare).totals ?? {};
    const failed = own.reduce((sum, program) => sum + program.failed, 0);
    return { host: compare.host, files, bytes, same: compare.totals?.same ?? 0, removed, failed };
  });
}

function failuresOf({ host, failures }: Program): readonly FailedPath[] {
  return failures.map(({ path, message }) => ({ path, message, host }));
}

function keptOf({ host, kept }: Program): readonly KeptPart[] {
  return kept.map(({ path, bytes }) => ({ path, bytes, host }));
}

const SLOWEST_MAX = 10;

function slowestOf(kind: keyof SlowPaths, programs: readonly Program[]): readonly SlowPath[] {
  const all = programs.flatMap(({ host, slowest }) => slowest[kind].map((path) => ({ ...path, host })));
  return all.sort((one, other) => other.ms - one.ms).slice(0, SLOWEST_MAX);
}
