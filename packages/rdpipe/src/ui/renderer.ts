/** The interface of a renderer, which shows a run to the user. */
import type { RunEvent, RunEventKind } from '../model/events.ts';

export interface Renderer {
  /** Never throws. */
  readonly handle: (event: RunEvent) => void;
  /** Shows a failure without a report: a usage error, or one before the run. One line, with its detail if any. */
  failure(error: unknown): void;
  /** Stops timers and restores the terminal. Idempotent. */
  close(): void;
}

/** One function per kind of event: a forgotten kind does not compile. */
export type EventHandlers = {
  readonly [Kind in RunEventKind]: (event: Extract<RunEvent, { readonly kind: Kind }>) => void;
};

/** Calls the handler of the event's kind; an event without a handler is ignored. */
export function dispatch(handlers: Partial<EventHandlers>, event: RunEvent): void {
  const handler = handlers[event.kind] as ((event: RunEvent) => void) | undefined;
  handler?.(event);
}
