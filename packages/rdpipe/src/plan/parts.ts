/** The part of each session in a segment: its stages, and the links that it joins. Pure. */
import type { PlannedLink, Segment, SessionId } from '../model/plan.ts';

/** Returns a segment per session that contains only the session's part; sessions of stages first. */
export function partsOf({ number, stages, links }: Segment): ReadonlyMap<SessionId, Segment> {
  const parts = new Map<SessionId, { stages: Segment['stages'][number][]; links: PlannedLink[] }>();
  const part = (session: SessionId) => {
    const known = parts.get(session) ?? { stages: [], links: [] };
    parts.set(session, known);
    return known;
  };
  for (const planned of stages) part(planned.session).stages.push(planned);
  for (const link of links) for (const session of sessionsOfLink(link)) part(session).links.push(link);
  return new Map([...parts].map(([session, own]) => [session, { number, ...own }]));
}

function sessionsOfLink(link: PlannedLink): ReadonlySet<SessionId> {
  return new Set(link.kind === 'hop' ? [link.from, link.to] : [link.session]);
}
