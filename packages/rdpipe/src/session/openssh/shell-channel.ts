/** Opens a channel of a master: rdpipe itself, or by an ssh where that is not possible. */
import { startChild } from '../child-channel.ts';
import { sentEnvironment } from '../config-values.ts';
import type { Target } from '../resolve.ts';
import { shellArguments } from './arguments.ts';
import { readLog } from './log.ts';
import type { Master } from './master.ts';
import type { SshProgram } from './program.ts';
import { openProxyChannel, type ShellChannel } from './proxy-channel.ts';

/**
 * Runs `sh` on the host. An ssh for each channel takes more processor time than the channel itself; but a connection
 * that others use must not depend on rdpipe's part of the protocol.
 * @throws RefusedError if the server refuses the channel; the signal's reason.
 */
export async function openShellChannel(
  ssh: SshProgram,
  target: Target,
  master: Master,
  signal: AbortSignal,
): Promise<ShellChannel> {
  const request = {
    environment: sentEnvironment(target),
    forwardsAgent: (target.config.get('forwardagent')?.[0] ?? 'no') !== 'no',
  };
  const opened = master.proxies() ? await openProxyChannel(master.controlPath, request, signal) : undefined;
  return opened ?? startClient(ssh, target, master);
}

function startClient(ssh: SshProgram, target: Target, master: Master): ShellChannel {
  const logPath = master.newPath('log');
  const child = startChild([ssh.path, ...shellArguments(target, master.controlPath, logPath)], ssh.env);
  // 255: ssh itself failed, or the command exited with 255.
  let hasFailed = false;
  const closed = child.closed.then((status) => {
    hasFailed = status.code === 255;
    return status;
  });
  return { ...child, closed, isCut: () => hasFailed, refusal: () => (hasFailed ? readLog(logPath) : '') };
}
