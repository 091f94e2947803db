/** Reports which path a hop takes, and warns the user if it is a detour. */
import type { Emit } from '../model/events.ts';
import type { HopContext } from './connect-hops.ts';
import type { HopConnection } from './hop-connection.ts';
import { connectedBy, notesOf, relayWarning } from './hop-messages.ts';

/** The services of the run that this uses. */
export interface ConnectionContext extends Pick<HopContext, 'label'> {
  readonly emit: Emit;
  note(link: number, text: string): void;
}

/** Adds notes to the report, emits `hop_connected`, and emits a warning if the hop is relayed. */
export function reportConnection(connection: HopConnection, { emit, note, label }: ConnectionContext): void {
  const { hop, ends } = connection;
  const { transport, cipher } = ends.send;
  for (const text of notesOf(connection)) note(hop.number, text);
  const warning = relayWarning(connection, label);
  if (warning !== undefined) emit({ kind: 'warning', message: warning });
  emit({ kind: 'hop_connected', link: hop.number, transport, cipher, way: connectedBy(connection) });
}
