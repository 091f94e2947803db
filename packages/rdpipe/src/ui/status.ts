/** For what runs on several hosts and prints its findings: one line of what is done meanwhile, on a terminal. */
import { formatBytes } from '../model/bytes.ts';
import type { Settings } from '../model/settings.ts';
import { printable } from '../model/text.ts';
import { createNoDisplay, type Display } from './display.ts';
import type { EventHandlers } from './renderer.ts';
import type { Terminal } from './terminal.ts';

/** Where findings go. */
export interface Output {
  readonly color: boolean;
  write(text: string): void;
}

export async function createStatusDisplay(
  { quiet }: Pick<Settings, 'quiet'>,
  { stream, write }: Terminal,
): Promise<Display> {
  if (quiet || stream === undefined) return createNoDisplay(write);
  const { createLiveDisplay } = await import('./live.ts');
  return createLiveDisplay(stream, write, () => []);
}

/** What of the runs that measure is shown. Findings say the rest. */
export function statusHandlers(display: Display, log: (message: string) => void): Partial<EventHandlers> {
  return {
    deploying({ host, bytes }) {
      display.status(`copying the agent to ${printable(host)}, ${formatBytes(bytes)}`);
      log(`${host}: copying the agent, ${formatBytes(bytes)}`);
    },
    prompting: ({ active }) => (active ? display.pause() : display.resume()),
    suspended: () => display.pause(),
    resumed: () => display.resume(),
    hop_connected: ({ transport, cipher, way }) => log(`connected: ${transport}, ${cipher}, ${way}`),
    log: ({ message }) => log(message),
    warning: ({ message }) => log(`warning: ${message}`),
  };
}
