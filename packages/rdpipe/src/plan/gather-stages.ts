/** The stages that gather outputs of several hosts for one reader: a stage, or the user. Pure. */
import {
  byPosition,
  type GatherStage,
  type HostRef,
  inputsOf,
  type Pipeline,
  type Stage,
  THIS_MACHINE,
} from '../model/pipeline.ts';
import type { Settings } from '../model/settings.ts';

/** Returns what precedes the lines of the host with that name. */
export type Prefix = (name: string) => string;

type GatherSettings = Pick<Settings, 'gather' | 'fold' | 'prefix' | 'failFast'>;

/**
 * Adds stages that gather the output of a stage on several hosts: on the next stage's host, if that stage runs on one
 * host; after the last stage on this machine, if its output arrives here, each line prefixed with its host, or equal
 * outputs only once. Without `failFast`, a host that fails in the last stage does not suppress the lines of the other
 * hosts.
 */
export function withGathers(
  { stages }: Pipeline,
  { stdout }: { readonly stdout: 'arrive' | 'drop' },
  settings: GatherSettings,
  prefixOf: Prefix = plainPrefix,
): Pipeline {
  const positions = byPosition(stages);
  const most = Math.max(...positions.map((parts) => parts.length));
  const first = (positions.length + 1) * most;
  const [head, ...rest] = positions.flatMap((parts, index): readonly Stage[] => {
    const next = positions[index + 1];
    if (parts.length === 1 || parts[0].kind === 'sink') return parts;
    const number = first + index + 1;
    if (next === undefined) {
      if (stdout === 'drop') return parts;
      const writers = settings.failFast ? parts : parts.map(lenient);
      return [...writers, gather(parts, THIS_MACHINE, number, asShown(parts, settings, prefixOf))];
    }
    return next.length === 1 && next[0].kind !== 'source' && inputsOf(next[0]) === undefined
      ? [...parts, gather(parts, next[0].host, number, { mode: settings.gather })]
      : parts;
  });
  return head === undefined ? { stages: [stages[0]] } : { stages: [head, ...rest] };
}

function lenient(stage: Stage): Stage {
  return stage.kind === 'command' ? { ...stage, lenient: true } : stage;
}

/** True if the output is JSON, which names the host itself. */
function areObjects(stage: Stage): boolean {
  return stage.kind === 'tree' && stage.settings.plan === 'json';
}

type Form = Pick<GatherStage, 'mode' | 'labels'>;

function asShown(parts: readonly [Stage, ...Stage[]], settings: GatherSettings, prefixOf: Prefix): Form {
  const names = parts.map(({ host }) => host.label);
  const mode = settings.gather;
  if (areObjects(parts[0])) return { mode };
  if (settings.fold) return { mode: 'fold', labels: names };
  return settings.prefix ? { mode, labels: names.map(prefixOf) } : { mode };
}

function plainPrefix(name: string): string {
  return `${name}: `;
}

function gather(parts: readonly Stage[], host: HostRef, number: number, form: Form): GatherStage {
  const ins = parts.map((part) => part.number);
  return { kind: 'gather', number, host, text: 'gather', ins, ...form };
}
