// SPDX-License-Identifier: Apache-2.0
// Command lines of ssh, and whether rdssh's front parses them as ssh does, judged by `ssh -G`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BIN } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

/** Options that a user or a tool may give, each as one or two words. */
const OPTIONS: readonly (readonly string[])[] = [
  ['-p', '2222'],
  ['-p2223'],
  ['-l', 'bob'],
  ['-lbob'],
  ['-o', 'Port=2224'],
  ['-oPort=2225'],
  ['-o', 'User carol'],
  ['-oHostName=127.0.0.9'],
  ['-i', '/etc/hostname'],
  ['-i/etc/hosts'],
  ['-J', 'jump'],
  ['-Ja,b@c:23'],
  ['-oProxyJump=other'],
  ['-C'],
  ['-q'],
  ['-v'],
  ['-T'],
  ['-n'],
  ['-4'],
  ['-6'],
  ['-x'],
  ['-a'],
  ['-A'],
  ['-k'],
  ['-K'],
  ['-b', '127.0.0.1'],
  ['-B', 'lo'],
  ['-c', 'aes128-ctr'],
  ['-m', 'hmac-sha2-256'],
  ['-S', '/tmp/control-%C'],
  ['-S', 'none'],
  ['-e', 'none'],
  ['-E', '/dev/null'],
  ['-oControlMaster=auto'],
  ['-oSendEnv=GIT_PROTOCOL'],
  ['-oServerAliveInterval=7'],
  ['-2'],
];

const HOSTS = [['h1'], ['ann@h1'], ['a@b@h1'], ['ssh://ann@h1:2226'], ['ssh://h1'], ['::1']] as const;

/** Each option before the host, after it and before `--`; pairs of options; each host. */
export const LINES: readonly (readonly string[])[] = [
  ...OPTIONS.flatMap((option) => [
    [...option, 'h1', 'ls', '-l'],
    ['h1', ...option, 'ls', '-l'],
    [...option, '--', 'ann@h1', 'ls', '-p', '22'],
    ['ssh://ann@h1:2226', ...option, '--', 'ls'],
  ]),
  ...OPTIONS.flatMap((option, index) => {
    const next = OPTIONS[(index + 7) % OPTIONS.length] ?? [];
    return [
      [...option, ...next, 'ann@h1', 'ls'],
      [...next, 'ann@h1', ...option, 'ls'],
    ];
  }),
  ...HOSTS.flatMap((host) => [
    [...host, 'ls'],
    ['-vvCp22', ...host, '-lbob', 'ls'],
    ['-p', '7', ...host, '-p', '8', 'ls'],
  ]),
];

const CONFIG = `Host h1 jump
  User configured
  Port 2200
Match originalhost h1 user bob
  Compression yes
`;

/** Creates stand-ins for the programs that the front may execute: they print their name and arguments. */
export function placeStandIns(directory: string): void {
  mkdirSync(join(directory, 'other'));
  for (const [name, path] of [
    ['ssh', 'other/ssh'],
    ['rdpipe', 'rdpipe'],
  ] as const)
    writeFileSync(join(directory, path), `#!/bin/sh\nprintf '%s\\n' ${name} "$@"\n`, { mode: 0o755 });
}

/** Returns the name and the arguments of the program that the front executes with such a directory. */
export function become(directory: string, words: readonly string[]): readonly string[] {
  const env = { PATH: `${directory}/other:${directory}:/usr/bin:/bin` };
  const run = runProgram(join(BIN, 'rdhop'), ['rdssh', join(directory, 'rdpipe'), ...words], { env, input: '' });
  return run.stdout.split('\n').slice(0, -1);
}

/** Expects that ssh -G prints the same configuration for the words of the front as for those of the user. */
export function expectAsSsh(directory: string, lines: readonly (readonly string[])[]): void {
  const config = join(directory, 'config');
  writeFileSync(config, CONFIG);
  for (const line of lines) {
    const [became, ...words] = become(directory, line);
    const end = words.indexOf('--');
    const [, , host = '', ...command] = words.slice(end + 1);
    const options = words
      .slice(0, end)
      .flatMap((word, index, all) => (word === '-o' ? ['-o', all[index + 1] ?? ''] : []));
    expect(became, line.join(' ')).to.equal('rdpipe');
    expect(configured(config, [...options, '--', host, 'x']), line.join(' ')).to.equal(configured(config, line));
    expect(command[0], line.join(' ')).to.equal('ls');
  }
}

/** Returns the configuration without settings that do not concern the host: rdpipe has its own options for these. */
function configured(config: string, words: readonly string[]): string {
  const run = runProgram('/usr/bin/ssh', ['-G', '-F', config, ...words]);
  expect(run.status, `ssh -G ${words.join(' ')}: ${run.stderr}`).to.equal(0);
  return run.stdout
    .split('\n')
    .filter((line) => !/^(loglevel|stdinnull|requesttty|escapechar) /.test(line))
    .join('\n');
}
