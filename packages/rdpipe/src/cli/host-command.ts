/** The common part of `rdpipe doctor` and `rdpipe bench`: settings, hosts, view, signals, exit status. */
import { isatty } from 'node:tty';
import { loadSettings } from '../config/load.ts';
import { statusOf } from '../model/errors.ts';
import type { Settings } from '../model/settings.ts';
import type { Invocation } from '../parse/argv.ts';
import type { Installation } from '../run/open-hosts.ts';
import type { Output, StatusView } from '../ui/terminal/status.ts';
import { outputColumns, type Terminal, writeAll } from '../ui/terminal/terminal.ts';
import type { Io } from './io.ts';
import { untilUserSignal } from './user-signals.ts';

export type HostInvocation = Extract<Invocation, { hostWords: readonly string[] }>;

export interface HostCommand<Hosts, View extends StatusView> {
  /** @throws UsageError */
  readonly parse: (words: readonly string[], settings: Settings) => Hosts;
  /** The view for --json, which also shows failures from before the settings are read. */
  readonly jsonView: (terminal: Terminal, output: Output) => View;
  readonly view: (settings: Settings, terminal: Terminal, output: Output) => Promise<View>;
  /** Does the work; returns the exit status. */
  readonly work: (wanted: Wanted<Hosts>, view: View, signal: AbortSignal) => Promise<number>;
}

export interface Wanted<Hosts> {
  readonly hosts: Hosts;
  readonly settings: Settings;
  readonly installation: Installation;
}

/** Runs `command` and returns the exit status. Throws only failures from before there is a view. */
export async function runHostCommand<Hosts, View extends StatusView>(
  command: HostCommand<Hosts, View>,
  { options, hostWords }: HostInvocation,
  io: Io,
  terminal: Terminal,
): Promise<number> {
  const output: Output = {
    color: terminal.color && isatty(1),
    columns: () => outputColumns(terminal),
    write: (text) => writeAll(1, Buffer.from(text)),
  };
  let view = options.json === true ? command.jsonView(terminal, output) : undefined;
  try {
    const settings = await loadSettings(options, io.environment);
    const hosts = command.parse(hostWords, settings);
    const shown = await command.view(settings, terminal, output);
    view = shown;
    return await untilUserSignal(io.ignoredSignals, async (signal) => {
      const { findInstallation } = await import('./installation.ts');
      return command.work({ hosts, settings, installation: findInstallation() }, shown, signal);
    });
  } catch (error) {
    if (view === undefined) throw error;
    view.failure(error);
    return statusOf(error);
  } finally {
    view?.close();
  }
}
