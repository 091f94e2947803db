/** The entry point: protects descriptors 0 and 1 before loading anything else, then calls `main`. */
import { setMaxListeners } from 'node:events';
import { keepCallersLimits } from '../agent/caller-limits.ts';
import { keepLocalDirectory } from '../agent/local-directory.ts';
import { readRawArgv } from '../parse/binary-string.ts';
import { keepConfigAnswer } from '../session/openssh/config-answer.ts';
import { failureText } from '../ui/terminal/failure.ts';
import { leaveTerminalModes, protectPayload } from '../ui/terminal/protect-payload.ts';
import { writeAll } from '../ui/terminal/terminal.ts';

/** bin/rdpipe passes the ignored signals and limits at its start, and a variable that would change node's behaviour. */
const IGNORED_SIGNALS = takeVariable('RDPIPE_IGNORED_SIGNALS');
const LIMITS = takeVariable('RDPIPE_LIMITS');
const CERTIFICATES = takeVariable('RDPIPE_EXTRA_CA_CERTS');
/** Set by bin/rdcp and by rdssh's front. */
const PROGRAM = takeVariable('RDPIPE_PROGRAM');
/** The directory of rdssh's front, and the configuration that it requested from ssh. */
const LOCAL_DIRECTORY = takeVariable('RDPIPE_LOCAL_DIRECTORY');
const SSH_CONFIG = takeVariable('RDPIPE_SSH_CONFIG');

protectPayload();
leaveTerminalModes();
// Every host and hop listens to a run's one signal, which is not the leak that node would warn about.
setMaxListeners(0);
process.on('uncaughtException', (error) => {
  writeAll(2, Buffer.from(failureText(error, undefined, PROGRAM)));
  process.exit(125);
});
keepCallersLimits(LIMITS);
keepLocalDirectory(LOCAL_DIRECTORY);
keepConfigAnswer(SSH_CONFIG);
if (CERTIFICATES !== undefined) process.env.NODE_EXTRA_CA_CERTS = CERTIFICATES;
const program = importProgram();
void program.then(async ({ main }) => {
  process.exit(await main(readRawArgv(), { environment: process.env, ignoredSignals: IGNORED_SIGNALS }));
});

function importProgram(): Promise<Pick<typeof import('./rdpipe.ts'), 'main'>> {
  if (PROGRAM === 'rdssh-standby') return import('./standby.ts');
  if (PROGRAM === 'rdssh') return import('./rdssh.ts');
  return PROGRAM === 'rdcp' ? import('./rdcp.ts') : import('./rdpipe.ts');
}

function takeVariable(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
