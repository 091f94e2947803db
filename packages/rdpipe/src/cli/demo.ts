/** `rdpipe demo`: two temporary hosts in this process, and the real rdpipe between them. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { installationRoot } from '../agent/locate.ts';
import { UsageError } from '../model/errors.ts';
import { type DemoHost, type KeyPair, makeKeyPair, startDemoHost } from '../session/ssh2/demo-host.ts';
import { type Program, startProgram } from '../session/start-program.ts';
import { writeAll } from '../ui/terminal/terminal.ts';
import { USER_SIGNALS } from './user-signals.ts';

/**
 * Runs both pipelines, and removes all files afterwards. Returns the exit status of the first that fails, otherwise 0.
 * @throws UsageError if there are arguments.
 */
export async function demo(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (words.length > 0) throw new UsageError('rdpipe demo takes no arguments');
  const directory = await mkdtemp(join(tmpdir(), 'rdpipe-demo-'));
  const runner = createRunner({ ...environment, XDG_CONFIG_HOME: directory, XDG_CACHE_HOME: directory });
  const hosts: DemoHost[] = [];
  try {
    const config = await startHosts(directory, environment, hosts);
    return await runPipelines(runner, config);
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
    await rm(directory, { recursive: true, force: true });
    runner.close();
  }
}

const ADDRESSES = { h1: '127.0.0.2', h2: '127.0.0.3' } as const;

/** Starts h1 and h2, adds them to `hosts`, and returns the path of an ssh config with only these two. */
async function startHosts(directory: string, environment: NodeJS.ProcessEnv, hosts: DemoHost[]): Promise<string> {
  const userKey = makeKeyPair();
  const hostKey = makeKeyPair();
  const homes = { HOME: directory, XDG_CACHE_HOME: join(directory, 'cache'), XDG_RUNTIME_DIR: undefined };
  for (const address of Object.values(ADDRESSES)) {
    const options = { address, hostKey, userKey: userKey.public, environment: { ...environment, ...homes } };
    hosts.push(await startDemoHost(options));
  }
  return writeSshFiles(directory, hosts, userKey, hostKey);
}

async function writeSshFiles(
  directory: string,
  hosts: readonly DemoHost[],
  userKey: KeyPair,
  hostKey: KeyPair,
): Promise<string> {
  const file = (name: string) => join(directory, name);
  const write = (name: string, text: string) => writeFile(file(name), text, { mode: 0o600 });
  await write('id', userKey.private);
  await write('known_hosts', hosts.map(({ address, port }) => `[${address}]:${port} ${hostKey.public}\n`).join(''));
  const names = Object.keys(ADDRESSES);
  await write(
    'ssh_config',
    hosts.map(({ address, port }, index) => `Host ${names[index]}\n  HostName ${address}\n  Port ${port}\n`).join('') +
      `Host *\n  User ${userInfo().username}\n  IdentityFile ${file('id')}\n  IdentitiesOnly yes\n` +
      `  IdentityAgent none\n  StrictHostKeyChecking yes\n  UserKnownHostsFile ${file('known_hosts')}\n` +
      '  GlobalKnownHostsFile /dev/null\n',
  );
  return file('ssh_config');
}

async function runPipelines(runner: Runner, config: string): Promise<number> {
  say("two throwaway hosts are up: h1 and h2\n\n$ echo hi | rdpipe h1:'tr a-z A-Z' h2:rev\n");
  const first = await runner.run(['-F', config, 'h1:tr a-z A-Z', 'h2:rev'], 'hi\n');
  if (first !== 0) return first;
  say("\n$ rdpipe -v h1:'head -c 2G /dev/zero' h2:'wc -c >&2'\n");
  return runner.run(['-F', config, '-v', 'h1:head -c 2G /dev/zero', 'h2:wc -c >&2']);
}

/** Writes to standard error, like all text: standard output belongs to the pipeline. */
function say(text: string): void {
  writeAll(2, Buffer.from(text));
}

interface Runner {
  /** Runs `rdpipe WORDS`, returns its exit status. Without `input`, standard input and output are /dev/null. */
  run(words: readonly string[], input?: string): Promise<number>;
  close(): void;
}

/** Runs rdpipe as the user would, and passes signals on, so that it ends its processes before this process exits. */
function createRunner(environment: NodeJS.ProcessEnv): Runner {
  let child: Program | undefined;
  let ended: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    ended = signal;
    child?.kill(signal);
  };
  for (const signal of USER_SIGNALS) process.on(signal, onSignal);
  return {
    async run(words, input) {
      if (ended !== undefined) return 128 + constants.signals[ended];
      const [stdin, stdout] = input === undefined ? (['ignore', 'ignore'] as const) : (['pipe', 'inherit'] as const);
      const program = join(installationRoot(), 'bin/rdpipe');
      child = startProgram([program, ...words], [stdin, stdout, 'inherit'], environment);
      child.stdin?.on('error', () => {}).end(input);
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      return code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
    },
    close() {
      for (const signal of USER_SIGNALS) process.off(signal, onSignal);
    },
  };
}
