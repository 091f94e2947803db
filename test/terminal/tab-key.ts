// SPDX-License-Identifier: Apache-2.0
// The Tab key in real shells: options, values, topics, hosts, files,
// and paths on a host over an existing connection.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompletingShell, type ShellName } from '../support/completing-shell.ts';
import { CompletionPlace } from '../support/completion-place.ts';
import { needsFile, needsTool } from '../support/needs.ts';

const SHELLS: readonly ShellName[] = ['bash', 'bash with bash-completion', 'zsh', 'fish'];

type Line = readonly [string, string, { readonly zsh?: string; readonly fish?: string }?];

/** The typed line, and the line after Tab. zsh puts a backslash before ~; fish doubles backslashes in single quotes. */
export const LINES: readonly Line[] = [
  ['rdpipe --transport=r', 'rdpipe --transport=rdma'],
  ['rdpipe --transport r', 'rdpipe --transport rdma'],
  ['rdpipe -v do', 'rdpipe -v doctor'],
  ['rdpipe help env', 'rdpipe help environment'],
  ['rdpipe doctor -F c h1 --js', 'rdpipe doctor -F c h1 --json'],
  ['rdpipe known', 'rdpipe known.example:'],
  ['rdpipe -F c ann@h1', 'rdpipe -F c ann@h1:'],
  ['rdpipe bench -v kn', 'rdpipe bench -v known.example'],
  ["rdpipe -F c h1:'< ~/da", "rdpipe -F c h1:'< ~/data/"],
  ["rdpipe -F c :'echo a b' h1:'>> ~/data/-", "rdpipe -F c :'echo a b' h1:'>> ~/data/-dash'"],
  ['rdpipe -F c h1:"< ~/data/it', 'rdpipe -F c h1:"< ~/data/it\\\\\'s"'],
  [
    "rdpipe -F c 'h1:< ~/data/tw",
    "rdpipe -F c 'h1:< ~/data/two\\ words'",
    { fish: "rdpipe -F c 'h1:< ~/data/two\\\\ words'" },
  ],
  ["rdpipe ':< lo", "rdpipe ':< local\\ file'", { fish: "rdpipe ':< local\\\\ file'" }],
  ['rdcp -F c h1:~/da', 'rdcp -F c h1:~/data/', { zsh: 'rdcp -F c h1:\\~/data/' }],
  ["rdcp -F c h1:'~/data/tw", "rdcp -F c h1:'~/data/two words'"],
  ['rdcp -F c h1:"~/data/od', 'rdcp -F c h1:"~/data/odd"\'!\'"name"', { fish: 'rdcp -F c h1:"~/data/odd!name"' }],
  ['rdcp -r notes.txt kn', 'rdcp -r notes.txt known.example:'],
  ['rdcp -a --exclude-from=no', 'rdcp -a --exclude-from=notes.txt'],
  ['rdcp no', 'rdcp notes.txt'],
  ['rdcp -av lo', 'rdcp -av local\\ file'],
];

/** Runs the lines in every shell. */
export function testTab(lines: readonly Line[]): void {
  let place: CompletionPlace;

  before(async function () {
    needsTool(this, 'tmux', 'zsh', 'fish');
    place = new CompletionPlace();
    await place.startHosts();
    writeFileSync(join(place.home, '.ssh/known_hosts'), 'known.example ssh-ed25519 A\n');
    place.write(place.work, 'notes.txt', 'local file');
    place.write(place.host('h1').home, 'data/', 'data/-dash', "data/it's", 'data/two words', 'data/odd!name');
  });
  after(() => place?.close());

  for (const shell of SHELLS) {
    it(`completes in ${shell}`, async function () {
      if (shell.includes('with')) needsFile(this, '/usr/share/bash-completion/bash_completion');
      const terminal = await CompletingShell.open(shell, place.work, place.env);
      try {
        for (const [typed, wanted, others = {}] of lines)
          await terminal.completes(typed, (shell === 'zsh' || shell === 'fish' ? others[shell] : undefined) ?? wanted);
        await terminal.offers('rdpipe -F c h1:"< ~/data/', '-dash');
        // bash itself has no completion for ssh.
        if (shell !== 'bash') await terminal.completes('rdssh -v know', 'rdssh -v known.example');
        await terminal.offers('rdpipe help ', 'stages', 'exit', 'completion');
      } finally {
        await terminal.close();
      }
    });
  }
}
