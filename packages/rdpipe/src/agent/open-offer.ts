/** Starts the program on a host that gives rdpipe's programs to other hosts. */
import { randomBytes } from 'node:crypto';
import type { AgentHello } from '../model/protocol.ts';
import { sshConnectionOf } from '../model/ssh-connection.ts';
import type { HostSession } from '../session/host-session.ts';
import { offerScript } from './bootstrap.ts';
import type { Bundle } from './bundle.ts';
import { isNumericAddress } from './decode.ts';
import { createLineChannel, withChannel } from './line-channel.ts';
import type { Offer } from './program-sources.ts';
import { nextAnswer } from './remote-script.ts';

/**
 * Resolves when the program listens on a port of the range. `address` is the one at which others reach the host.
 * @throws SessionError if it cannot be started; the signal's reason.
 */
export async function openOffer(
  session: HostSession,
  bundle: Bundle,
  address: string,
  ports: readonly [number, number],
  signal: AbortSignal,
): Promise<Offer> {
  const lineChannel = createLineChannel(session, await session.openShell(signal));
  const { stdin } = lineChannel.channel;
  return withChannel(lineChannel, signal, async () => {
    stdin.write(offerScript(bundle, lineChannel.nonce, ports));
    const { text } = await nextAnswer(lineChannel, `cannot offer the programs of ${session.label}`);
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    stdin.write(`${token}\n`);
    return { label: session.label, address, port: portOf(text), token, close: () => void stdin.end() };
  });
}

const TOKEN_BYTES = 16;

/** Returns a numeric address at which other hosts may reach this one: that of its ssh, or else of its first network. */
export function reachableAddress(hello: AgentHello): string | undefined {
  const network = hello.addresses.find(({ up, kind }) => up && kind === 'physical')?.address;
  const address = sshConnectionOf(hello)?.server ?? network;
  return address !== undefined && isNumericAddress(address) ? address : undefined;
}

/** The port goes into a script's line for another host. @throws Error if it is not a port. */
function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error('not a port');
  return Number(text);
}
