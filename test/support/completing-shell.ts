// SPDX-License-Identifier: Apache-2.0
// A shell in a real terminal with completion of rdpipe, rdcp and rdssh loaded, to test the Tab key.
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { ROOT } from './root.ts';
import { Tmux } from './tmux.ts';

export type ShellName = 'bash' | 'bash with bash-completion' | 'zsh' | 'fish';

const FILES = join(ROOT, 'contrib/completion');

/** Printed by the last command line of each shell. */
const READY = /^ready$/m;
const SAY_READY = 'echo rea""dy';

/** Command lines that start each shell from bash, and the screen's text after each of them. */
const STARTS: Readonly<Record<ShellName, readonly (readonly [string, RegExp])[]>> = {
  bash: [[`. ${FILES}/rdpipe.bash; . ${FILES}/rdssh.bash; ${SAY_READY}`, READY]],
  'bash with bash-completion': [
    [
      `. /usr/share/bash-completion/bash_completion; . ${FILES}/rdpipe.bash; . ${FILES}/rdssh.bash; ${SAY_READY}`,
      READY,
    ],
  ],
  zsh: [
    ['PS1="zsh " exec zsh -f', /^zsh$/m],
    [`fpath=(${FILES} $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep; PS1="$ "; ${SAY_READY}`, READY],
  ],
  fish: [
    [`exec fish --no-config -C 'function fish_prompt; echo "fish "; end'`, /^fish$/m],
    [
      `function fish_prompt; echo '$ '; end; set -g fish_autosuggestion_enabled 0; set -g fish_complete_path $__fish_data_dir/completions; source ${FILES}/rdpipe.fish; source ${FILES}/rdssh.fish; ${SAY_READY}`,
      READY,
    ],
  ],
};

/** Clear the line and the screen. Unlike Ctrl-C, none of them makes the terminal drop keys that follow. */
const CLEARING_KEYS = ['C-e', 'C-u', 'C-l'];

export class CompletingShell {
  readonly #shell: ShellName;
  readonly #terminal: Tmux;

  private constructor(shell: ShellName, terminal: Tmux) {
    this.#shell = shell;
    this.#terminal = terminal;
  }

  /** The caller must close the shell. */
  static async open(shell: ShellName, cwd: string, env: NodeJS.ProcessEnv): Promise<CompletingShell> {
    const terminal = await Tmux.open({ columns: 200, rows: 20 }, { cwd, env });
    for (const [line, shown] of STARTS[shell]) {
      await terminal.type(line);
      await terminal.shows(shown);
    }
    return new CompletingShell(shell, terminal);
  }

  close(): Promise<void> {
    return this.#terminal.close();
  }

  /** Fails unless Tab, pressed after `typed`, completes the line to `wanted`. */
  async completes(typed: string, wanted: string): Promise<void> {
    await this.#press(typed);
    await this.#shows((screen) => expect(screen.split('\n').map(withoutPrompt)).to.include(wanted));
  }

  /** Fails unless Tab shows all of these candidates. bash shows them at the second press. */
  async offers(typed: string, ...candidates: readonly string[]): Promise<void> {
    const more = this.#shell.startsWith('bash') ? ['Tab'] : [];
    await this.#press(typed, ...more);
    await this.#shows((screen) => {
      const shown = screen.split('\n').slice(1).join('\n');
      for (const candidate of candidates) expect(shown).to.contain(candidate);
    });
  }

  /** Clears the screen first, so that everything shown belongs to this line. */
  async #press(typed: string, ...more: readonly string[]): Promise<void> {
    for (const key of CLEARING_KEYS) await this.#terminal.press(key);
    await this.#terminal.shows(/^\S*\$ ?$/);
    await this.#terminal.typeKeys(typed);
    for (const key of ['Tab', ...more]) await this.#terminal.press(key);
  }

  #shows(check: (screen: string) => void): Promise<void> {
    return eventually(async () => check(await this.#terminal.screen()));
  }
}

function withoutPrompt(line: string): string {
  return line.replace(/^\S*\$ /, '').trimEnd();
}
