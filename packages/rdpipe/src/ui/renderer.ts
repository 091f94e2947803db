/** The interface of a renderer, which shows a run to the user. */
import type { RunEvent, RunEventKind } from '../model/events.ts';

export interface Renderer {
  /** Never throws. */
  readonly handle: (event: RunEvent) => void;
  /** A failure that has no report: usage, or before a run began. One line, with its picture if it has one. */
  failure(error: unknown): void;
  /** Ends timers and leaves the terminal as it was. Idempotent. */
  close(): void;
}

/** One function per kind of event: a forgotten kind does not compile. */
export type EventHandlers = {
  readonly [Kind in RunEventKind]: (event: Extract<RunEvent, { readonly kind: Kind }>) => void;
};

/** A kind without a function is not shown. */
export function dispatch(handlers: Partial<EventHandlers>, event: RunEvent): void {
  const handler = handlers[event.kind] as ((event: RunEvent) => void) | undefined;
  handler?.(event);
}
