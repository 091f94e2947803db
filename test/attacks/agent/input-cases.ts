// SPDX-License-Identifier: Apache-2.0
// Words of a command line that create a marker file if the wrong shell evaluates them.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import type { Lab } from '../../support/lab.ts';
import { ROOT } from '../../support/root.ts';

export interface InputCase {
  readonly name: string;
  /** Arguments of `rdpipe`; MARKER stands for a path that must not be created. */
  readonly words: readonly string[];
  /** Run on a machine without ssh: ssh itself would refuse most of the words. */
  readonly withoutSsh: boolean;
}

/** Each trap creates the marker in any shell that evaluates it; none needs a blank. */
const TRAPS: readonly string[] = [
  '$(>MARKER)',
  '`>MARKER`',
  'a;>MARKER;',
  'a|>MARKER|',
  'a&>MARKER&',
  'a\n>MARKER\n',
  "';>MARKER;'",
  '";>MARKER;"',
  "'$(>MARKER)'",
  '%h$(>MARKER)',
  '-oProxyCommand=>MARKER',
  '-oProxyCommand=sh${IFS}-c${IFS}">MARKER"',
  'h1 -oProxyCommand=>MARKER',
  '${x:=$(>MARKER)}',
  '[h1]$(>MARKER)',
  'h1\\',
  'h9',
];

/** The places of a command line that take text of the user: the arguments around the trap. */
const PLACES: Readonly<Record<string, (trap: string) => readonly string[]>> = {
  host: (trap) => [`${trap}:true`],
  user: (trap) => [`${trap}@h1:true`],
  'a host of --data': (trap) => ['--data', `${trap}=127.0.0.1`, 'h1:true'],
  'an address of --data': (trap) => ['--data', `h1=${trap}`, 'h1:true'],
  '--hostname': (trap) => ['-H', trap, 'h1:true'],
  '--sudo': (trap) => ['--sudo', trap, 'h1:true'],
  '--shell': (trap) => ['--shell', trap, 'h1:true'],
  'a host of --shell': (trap) => ['--shell', `${trap}=sh`, 'h1:true'],
  '--agent': (trap) => ['--agent', trap, 'h1:true'],
  '--agent below home': (trap) => ['--agent', `~/${trap}`, 'h1:true'],
  '--config': (trap) => ['--config', trap, 'h1:true'],
  "ssh's -F": (trap) => ['-F', trap, 'h1:true'],
  "ssh's -o": (trap) => ['-o', trap, 'h1:true'],
  "a value of ssh's -o": (trap) => ['-o', `HostKeyAlias=${trap}`, 'h1:true'],
  'a host of doctor': (trap) => ['doctor', trap],
};

export const INPUT_CASES: readonly InputCase[] = [
  { ssh: 'openssh', withoutSsh: false },
  { ssh: 'ssh2', withoutSsh: false },
  { ssh: 'ssh2', withoutSsh: true },
].flatMap(({ ssh, withoutSsh }) =>
  Object.entries(PLACES).flatMap(([place, wordsOf]) =>
    TRAPS.map((trap) => {
      const words = wordsOf(trap);
      const options = ['--ssh', ssh, '--connect-timeout', '3'];
      return {
        name: `${JSON.stringify(trap)} as ${place} (${ssh}${withoutSsh ? ' without ssh' : ''})`,
        words: words[0] === 'doctor' ? ['doctor', ...options, ...words.slice(1)] : [...options, ...words],
        withoutSsh,
      };
    }),
  ),
);

/**
 * Writes a user's configuration with host and user in shell commands, as many do; with ssh installed, h1 is reached
 * without such a command.
 */
function writeConfig(lab: Lab, withoutSsh: boolean): string {
  const path = join(lab.directory, 'ssh_config');
  // Only ssh itself supports these.
  const more = withoutSsh ? [] : [`Include ${lab.homes}/ssh_config`, 'Match exec "false %h %n %r"'];
  const h1 = withoutSsh ? [] : ['Host h1', 'ProxyCommand none'];
  const lines = [...h1, ...more, 'Host *', 'ProxyCommand sh -c "exec false %h %p %n %r"'];
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** Returns a PATH with all programs that bin/rdpipe needs, except ssh. */
function pathWithoutSsh(lab: Lab): string {
  const directory = join(lab.directory, 'bin');
  mkdirSync(directory);
  for (const tool of ['sh', 'node', 'dirname', 'readlink', 'false'])
    symlinkSync(execaSync('sh', ['-c', `command -v ${tool}`]).stdout, join(directory, tool));
  return directory;
}

/** Expects that rdpipe fails (or runs, if the word is a harmless option), and that no shell created the marker. */
export async function expectNoShell(lab: Lab, { words, withoutSsh }: InputCase): Promise<void> {
  const marker = join(lab.directory, 'marker');
  const config = writeConfig(lab, withoutSsh);
  const quoted = words.map((word) => `'${word.replaceAll('MARKER', marker).replaceAll("'", `'\\''`)}'`);
  const path = withoutSsh ? `PATH='${pathWithoutSsh(lab)}'` : '';
  const result = await lab.sh(`${path} ${ROOT}/bin/rdpipe -F '${config}' ${quoted.join(' ')}`);
  expect(existsSync(marker), result.stderr).to.equal(false);
  expect(result.stderr).not.to.match(/internal error/);
  expect(result.status, result.stderr).to.be.oneOf([0, 1, 2, 125, 127]);
}
