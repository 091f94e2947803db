/** Translates an agent's event into an event for the user interface. Pure. */
import type { Counters } from '../model/counters.ts';
import type { RunEvent } from '../model/events.ts';
import type { AgentEvent } from '../model/protocol.ts';

/** Returns the counters of an end with the names that are used here. */
export function countersOf(event: Extract<AgentEvent, { event: 'counters' }>): Counters {
  return {
    bytes: event.bytes,
    wireBytes: event.wire_bytes,
    inputMs: event.input_ms,
    limitMs: event.limit_ms,
    workerMs: event.worker_ms,
    wireMs: event.wire_ms,
    outputMs: event.output_ms,
    sendBufferMs: event.send_buffer_ms,
    receiveWindowMs: event.receive_window_ms,
    sentAgain: event.sent_again,
    streams: event.streams,
    rttUs: event.rtt_us,
  };
}

/** Returns the event to show to the user; undefined if none is shown. */
export function toRunEvent(host: string, event: AgentEvent): RunEvent | undefined {
  switch (event.event) {
    case 'broken':
      return { kind: 'hop_broken', link: event.link, end: event.end, host, message: event.message };
    case 'resumed':
      return { kind: 'hop_resumed', link: event.link, end: event.end, host, bytes: event.bytes };
    case 'size':
      return { kind: 'size', link: event.link, bytes: event.bytes };
    case 'counters':
      return { kind: 'counters', link: event.link, end: event.end, ...countersOf(event) };
    case 'output':
      return { kind: 'output', link: event.link };
    case 'stderr':
      return { kind: 'stderr', stage: event.stage, host, data: Buffer.from(event.data, 'hex') };
    case 'exited':
      return {
        kind: 'stage_exited',
        stage: event.stage,
        host,
        code: event.code,
        signal: event.signal,
        stopped: event.stopped,
        consumerClosed: event.consumer_closed,
      };
    case 'left_behind':
      return { kind: 'warning', message: `process ${event.pid} (${event.command}) is still running on ${host}` };
    case 'started':
      return { kind: 'stage_started', stage: event.stage, host, pid: event.pid };
    default:
      return undefined;
  }
}
