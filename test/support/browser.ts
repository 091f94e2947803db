// SPDX-License-Identifier: Apache-2.0
// Headless Chromium, which opens a page with a fresh profile and resolves no host but this machine.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'mocha';
import { needsTool, onPath } from './needs.ts';
import { COMMAND_MS } from './patience.ts';
import { signalProcess } from './processes.ts';
import { startProgram } from './start-program.ts';

export interface Look {
  /** The document after all its loads and scripts. */
  readonly dom: string;
  /** Console messages: errors and policy violations. */
  readonly complaints: readonly string[];
}

/** Names of the program in Debian and in other distributions. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export function needsBrowser(test: Context): void {
  if (!NAMES.some(onPath)) needsTool(test, 'chromium');
}

/** Opens a file and saves a screenshot next to it as FILE.png. */
export async function lookAt(file: string, width = 1000): Promise<Look> {
  const profile = mkdtempSync(join(tmpdir(), 'rdpipe-test-browser-'));
  try {
    const { stdout, stderr } = await browse(profile, [
      '--dump-dom',
      `--screenshot=${file}.png`,
      `--window-size=${width},2400`,
      pathToFileURL(file).href,
    ]);
    const complaints = stderr.split('\n').filter((line) => line.includes(':CONSOLE'));
    return { dom: stdout, complaints };
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function browse(profile: string, words: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const quiet = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  const closed = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--disable-component-update'];
  const own = [`--user-data-dir=${profile}`, '--disable-dev-shm-usage', '--enable-logging=stderr', '--log-level=0'];
  const name = NAMES.find(onPath) ?? 'chromium';
  const command = [name, ...quiet, ...closed, ...own, ...words];
  const { pid, ended } = startProgram(command, { stdin: 'ignore', detached: true, timeout: COMMAND_MS });
  const { status, stdout, stderr } = await ended;
  signalProcess(-pid, 'SIGKILL'); // the rest of its process group
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return { stdout: stdout.toString(), stderr };
}

/** A server that a page might contact; it records the requests. */
export interface OutsideServer {
  readonly url: string;
  readonly asked: readonly string[];
  close(): void;
}

export async function startOutsideServer(): Promise<OutsideServer> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, asked, close };
}
