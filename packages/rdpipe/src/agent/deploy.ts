/** Copies the agent and its programs to a host over its session. */
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { printable } from '../model/text.ts';
import { createConcurrencyLimit } from '../session/concurrency-limit.ts';
import type { HostSession } from '../session/host-session.ts';
import type { Bundle, BundleFile } from './bundle.ts';
import { acceptAgentScript, acceptFileScript, installScript } from './deploy-scripts.ts';
import { INSTALL_DIRS } from './install-dirs.ts';
import { type Payload, runScript } from './remote-script.ts';

interface DeployOptions {
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** sshd allows ten channels per connection, and the script that waits for the agent uses one. */
const COPIES_AT_A_TIME = 4;

/**
 * Installs a bundle in the first directory of the host in which programs can be written and run.
 * @throws SessionError `no_agent` with the reason for each directory.
 */
export async function deploy(session: HostSession, bundle: Bundle, options: DeployOptions): Promise<void> {
  const { label } = session;
  const bytes = [bundle.agent, ...bundle.others].reduce((sum, file) => sum + file.bytes, 0);
  options.emit({ kind: 'deploying', host: label, bytes });
  const complaints: string[] = [];
  for (const dir of INSTALL_DIRS) {
    const complaint = await deployTo(dir, session, bundle, options);
    if (complaint === undefined) return;
    complaints.push(complaint);
    options.emit({ kind: 'log', message: `${label}: ${complaint}` });
  }
  const message = `cannot copy the agent to ${label}: ${complaints.join('; ')} (if it is installed there, use --agent PATH)`;
  throw new SessionError('no_agent', label, message);
}

/**
 * Copies the agent first: if it does not run, nothing else is copied. Returns why the directory cannot be used, or
 * undefined.
 */
async function deployTo(
  dir: string,
  session: HostSession,
  bundle: Bundle,
  { signal }: DeployOptions,
): Promise<string | undefined> {
  const { agent, others } = bundle;
  const accepted = await runScript(session, acceptAgentScript(dir, agent), payloadOf(agent), signal);
  if (!accepted.ok) return printable(accepted.text);
  const directory = accepted.text;
  const limit = createConcurrencyLimit(COPIES_AT_A_TIME);
  const copy = (file: BundleFile) => runScript(session, acceptFileScript(directory, file), payloadOf(file), signal);
  const copied = await Promise.all(others.map((file) => limit(signal, () => copy(file))));
  const complaint = copied.find(({ ok }) => !ok);
  const installed = complaint ?? (await runScript(session, installScript(dir, directory, bundle), undefined, signal));
  return installed.ok ? undefined : printable(installed.text);
}

function payloadOf(file: BundleFile): Payload {
  return async (unpack) => (unpack.startsWith('gzip') ? file.compressed() : file.content());
}
