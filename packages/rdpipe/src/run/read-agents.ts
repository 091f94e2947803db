/** Reads the events of every agent until all have ended. */

import type { Agent } from '../agent/agent.ts';
import { RdpipeError, SessionError } from '../model/errors.ts';
import type { SessionId } from '../model/plan.ts';
import type { EventBus } from './event-bus.ts';
import type { Front } from './open-hosts.ts';
import type { RunRecord } from './record.ts';

/**
 * Reads the agents' events until the last agent has ended; passes each to the record, then to the event bus. An agent
 * that is lost, or ends before `isFinishing`, is a failure.
 */
export async function readAgents(
  agents: ReadonlyMap<SessionId, Agent>,
  record: RunRecord,
  bus: EventBus,
  isFinishing: () => boolean,
  onEnd: (agent: Agent) => void = () => {},
  taken: Front['taken'] = () => undefined,
): Promise<void> {
  const each = [...agents].map(async ([session, agent]) => {
    try {
      await readAgent(session, agent, record, bus, taken);
      if (!isFinishing())
        throw new SessionError('session_lost', agent.label, `the agent on ${agent.label} ended early`);
    } catch (error) {
      record.fail({ kind: 'error', error: asRdpipeError(error, agent.label) });
    } finally {
      onEnd(agent);
    }
  });
  await Promise.all(each);
}

async function readAgent(
  session: SessionId,
  agent: Agent,
  record: RunRecord,
  bus: EventBus,
  taken: Front['taken'],
): Promise<void> {
  const acknowledge = createAcknowledger(agent);
  for await (const event of agent.events()) {
    record.receive(session, event);
    bus.publish(session, event);
    if (event.event === 'stderr') {
      const waiting = taken();
      if (waiting !== undefined) await waiting;
      acknowledge(event.stage, event.data.length / 2);
    }
    if (event.event === 'output') agent.send({ op: 'show', link: event.link, end: event.end });
  }
}

/**
 * A quarter of the bytes that may be unacknowledged: an agent within that limit never has to wait, and gets few
 * messages.
 */
const ACKNOWLEDGED_AT_A_TIME_BYTES = 32 * 1024;

function createAcknowledger(agent: Agent): (stage: number, count: number) => void {
  const shown = new Map<number, number>();
  const acknowledged = new Map<number, number>();
  return (stage, count) => {
    const bytes = (shown.get(stage) ?? 0) + count;
    shown.set(stage, bytes);
    if (bytes - (acknowledged.get(stage) ?? 0) < ACKNOWLEDGED_AT_A_TIME_BYTES) return;
    acknowledged.set(stage, bytes);
    agent.send({ op: 'stderr_ack', stage, bytes });
  };
}

function asRdpipeError(error: unknown, host: string): RdpipeError {
  if (error instanceof RdpipeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SessionError('session_lost', host, `lost the agent on ${host}: ${message}`, { cause: error });
}
