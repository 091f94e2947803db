// SPDX-License-Identifier: Apache-2.0
// A real terminal of a chosen size (tmux): tests type into its bash and read its screen.
import { expect } from 'chai';
import { execa } from 'execa';
import { eventually } from './eventually.ts';
import { isRunning } from './processes.ts';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Value of $TERM; default: the terminal that tmux emulates. */
  readonly term?: string | undefined;
}

/** The output of a command line, and its status. */
export interface Shown {
  readonly status: number;
  /** Lines on the screen; a wrapped line is one line here, longer than the screen is wide. */
  readonly lines: readonly string[];
}

export class Tmux {
  readonly #socket: string;
  readonly #server: number;
  #runs = 0;

  private constructor(socket: string, server: number) {
    this.#socket = socket;
    this.#server = server;
  }

  /** The caller must close the terminal. Keys typed before the prompt appears are buffered. */
  static async open({ columns, rows }: TerminalSize, { cwd, env, term }: TerminalPlace): Promise<Tmux> {
    const socket = `${env.TMPDIR}/tmux`;
    const size = ['-x', `${columns}`, '-y', `${rows}`];
    const shell = `PS1='$ ' TERM=${term ?? '$TERM'} exec bash --norc --noprofile -i`;
    const options = ['-S', socket, '-f', '/dev/null', 'new-session', '-d', ...size, shell];
    await execa('tmux', options, { cwd, env, extendEnv: false, stdio: 'ignore' });
    return new Tmux(socket, Number(await tmux(socket, 'display-message', '-p', '#{pid}')));
  }

  async close(): Promise<void> {
    await tmux(this.#socket, 'kill-server');
    await eventually(() => expect(isRunning(this.#server)).to.equal(false));
  }

  /** Types a command line and waits for its end. */
  async run(line: string): Promise<Shown> {
    await this.start(line);
    return this.ended();
  }

  /** Types a command line; `ended` returns its output. */
  async start(line: string): Promise<void> {
    this.#runs += 1;
    await tmux(this.#socket, 'clear-history');
    await this.type(`clear; ${line}${this.#sentinel}`);
  }

  /** Appended to a command line to make its end visible. */
  get #sentinel(): string {
    return `; echo "status $? of ${this.#runs}"`;
  }

  async ended(): Promise<Shown> {
    const end = new RegExp(`^status (\\d+) of ${this.#runs}$`);
    await this.shows(new RegExp(end, 'm'));
    const lines = (await this.history()).split('\n').map((line) => line.trimEnd());
    const last = lines.findIndex((line) => end.test(line));
    // tmux keeps the previous screen, which ends with the typed line.
    const typed = lines.findLastIndex((line) => line.includes(this.#sentinel));
    return { status: Number(end.exec(lines[last] ?? '')?.[1]), lines: lines.slice(typed + 1, last) };
  }

  /** Types a line, Enter included. */
  async type(text: string): Promise<void> {
    await this.typeKeys(text);
    await this.press('Enter');
  }

  /** Types characters, without Enter. Must not end in a semicolon, which would end tmux's command. */
  async typeKeys(text: string): Promise<void> {
    await tmux(this.#socket, 'send-keys', '-l', '--', text.replace(/;$/, '\\;'));
  }

  /** Presses a key by tmux's name, such as `C-c`. */
  async press(key: string): Promise<void> {
    await tmux(this.#socket, 'send-keys', key);
  }

  async resize({ columns, rows }: TerminalSize): Promise<void> {
    await tmux(this.#socket, 'resize-window', '-x', `${columns}`, '-y', `${rows}`);
  }

  /** The text on the screen, line by line, without blank rows at its end. */
  async screen(): Promise<string> {
    return (await tmux(this.#socket, 'capture-pane', '-p')).trimEnd();
  }

  /** The same with the escape sequences of colors. */
  async coloredScreen(): Promise<string> {
    return (await tmux(this.#socket, 'capture-pane', '-p', '-e')).trimEnd();
  }

  /** The text of the screen and of lines that were scrolled off. */
  history(): Promise<string> {
    return tmux(this.#socket, 'capture-pane', '-p', '-J', '-S', '-');
  }

  /** The same with the escape sequences of colors. */
  coloredHistory(): Promise<string> {
    return tmux(this.#socket, 'capture-pane', '-p', '-e', '-J', '-S', '-');
  }

  async cursorIsVisible(): Promise<boolean> {
    return (await tmux(this.#socket, 'display-message', '-p', '#{cursor_flag}')).trim() === '1';
  }

  /** Records all output to the terminal in a file from now on. */
  async record(file: string): Promise<void> {
    await tmux(this.#socket, 'pipe-pane', `cat >'${file}'`);
  }

  /** Resolves with the screen when it matches `pattern`; the shell's prompt is `$`. */
  async shows(pattern: RegExp, withinMs?: number): Promise<string> {
    let screen = '';
    await eventually(async () => {
      screen = await this.screen();
      expect(screen).to.match(pattern);
    }, withinMs);
    return screen;
  }
}

async function tmux(socket: string, ...words: string[]): Promise<string> {
  return (await execa('tmux', ['-S', socket, ...words])).stdout;
}
