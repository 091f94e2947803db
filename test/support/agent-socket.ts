// SPDX-License-Identifier: Apache-2.0
// The agent's end of the channel to rdsend or rdrecv: JSON lines on descriptor 3.
// docs/protocol/hop-agent.md describes them.
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.ts';
import type { Program } from './programs.ts';

export type Message = Readonly<Record<string, unknown>>;

export class AgentSocket {
  readonly #socket: Socket;
  readonly #events: Message[] = [];

  constructor(program: Program) {
    this.#socket = program.child.stdio[3] as unknown as Socket;
    createInterface({ input: this.#socket })
      .on('line', (line) => this.#events.push(JSON.parse(line)))
      .on('error', () => {}); // the program's exit status shows its end
  }

  get events(): readonly Message[] {
    return this.#events;
  }

  tell(op: string, fields: Message = {}): void {
    this.sendLine(JSON.stringify({ op, ...fields }));
  }

  sendLine(line: string): void {
    this.#socket.write(`${line}\n`);
  }

  /** Waits for the first event of this name. */
  heard(event: string): Promise<Message> {
    return eventually(() => {
      const found = this.#events.find((message) => message.event === event);
      if (found === undefined) throw new Error(`no ${event} in ${JSON.stringify(this.#events)}`);
      return found;
    });
  }

  names(): unknown[] {
    return this.#events.map(({ event }) => event).filter((name) => name !== 'counters');
  }

  /** Closes the channel, as the death of an agent does. */
  hangUp(): void {
    this.#socket.destroy();
  }
}
