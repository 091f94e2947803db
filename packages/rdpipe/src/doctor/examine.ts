/** `rdpipe doctor`: examines every host and every pair of neighbours. */
import type { Watcher } from '../model/events.ts';
import type { Examination, Found, PairExamination } from '../model/examination.ts';
import type { HostRef } from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';
import { type Installation, sessionSettings } from '../run/open-hosts.ts';
import { type TriedSessions, trySessions } from '../session/open.ts';
import { controllingTerminal } from '../session/prompts/terminal.ts';
import { examinePair } from './examine-pair.ts';
import type { HostFacts } from './facts.ts';
import { type GatherContext, gatherFacts } from './gather.ts';
import { examineHost } from './host-checks.ts';
import { chooseSubjects, type Subjects } from './subjects.ts';

export interface DoctorInput {
  /** As written, at least one. */
  readonly hosts: readonly HostRef[];
  readonly settings: Settings;
  readonly installation: Installation;
}

export interface DoctorWatcher extends Watcher {
  /** Never throws. */
  readonly found: (found: Found) => void;
}

/**
 * Examines every host, and every pair of neighbours by a second of data in each direction. Problems become findings.
 * @throws RdpipeError if rdpipe itself fails; the signal's reason.
 */
export async function examine(input: DoctorInput, watcher: DoctorWatcher, signal: AbortSignal): Promise<Examination> {
  const { settings, installation } = input;
  const { transport, bufferBytes } = settings;
  const subjects = chooseSubjects(input.hosts, { transport, bufferBytes });
  const hosts = subjects.hosts.map(({ host }) => host);
  watcher.doing(`connecting to ${hosts.map(({ label }) => label).join(', ')}`);
  // A persistent connection would skip the login, which must be examined.
  const wanted = { ...sessionSettings(settings), persistS: 0, ...installation, emit: watcher.emit, signal };
  const sessions = await trySessions(hosts, wanted, controllingTerminal());
  try {
    return await examineSubjects(subjects, sessions, { sessions, settings, emit: watcher.emit, signal }, watcher);
  } finally {
    await sessions.close();
  }
}

async function examineSubjects(
  subjects: Subjects,
  { attempts }: TriedSessions,
  context: GatherContext,
  watcher: DoctorWatcher,
): Promise<Examination> {
  watcher.doing('examining the hosts');
  const gathered = await Promise.all(attempts.map((attempt) => gatherFacts(attempt, context)));
  const hosts = subjects.hosts.map(({ host, wanted }) => examineHost(factsOf(host, gathered), wanted));
  for (const host of hosts) watcher.found({ kind: 'host', host });
  const pairs: PairExamination[] = [];
  for (const subject of subjects.pairs) {
    const pair = await examinePair(subject, gathered, context, watcher);
    pairs.push(pair);
    watcher.found({ kind: 'pair', pair });
  }
  const checks = [...hosts, ...pairs].flatMap((examination) => examination.checks);
  return { v: 1, status: checks.some(({ result }) => result === 'fail') ? 1 : 0, hosts, pairs };
}

function factsOf({ label }: HostRef, gathered: readonly HostFacts[]): HostFacts {
  const facts = gathered.find((host) => host.label === label);
  if (facts === undefined) throw new Error(`${label} was not examined`);
  return facts;
}
