/** The ping-pong of `rdpipe bench`: lines sent to the second host and back, one at a time. Pure. */
import { RdpipeError } from '../model/errors.ts';
import { commandStage, type HostRef, type Pipeline } from '../model/pipeline.ts';

/**
 * The pipeline: its first shell counts messages for CS_MIN; the shell's own time is the same for all methods.
 *
 * @param path of a FIFO on the first host, which must not exist yet and must be unpredictable for other users
 */
export function pingPongPipeline(from: HostRef, to: HostRef, path: string): Pipeline {
  const turn = 'echo x; read -r word <&3';
  const ping = [
    `mkfifo -m 600 ${path} && exec 3<>${path} || exit 1`,
    // The first round trips wait for connections.
    `${turn}; ${turn}; rm ${path}`,
    'now() { read -r at rest < /proc/uptime; at=${at%.*}${at#*.}; }',
    'now; i=0 began=$at',
    `until [ $((at - began)) -ge ${CS_MIN} ]; do`,
    `for _ in 1 2 3 4 5 6 7 8 9 10; do ${turn}; done; i=$((i + 10)); now; done`,
    `echo "${MARK} $i $((at - began))" >&2`,
  ];
  const back = `until [ -p ${path} ]; do sleep 0.05; done; exec cat > ${path}`;
  const sink = {
    kind: 'sink',
    number: 4,
    host: from,
    text: '> /dev/null',
    word: Buffer.from('/dev/null'),
    append: false,
  } as const;
  const command = ping.join('\n');
  return { stages: [commandStage(1, from, command), commandStage(2, to, 'cat'), commandStage(3, from, back), sink] };
}

/**
 * The mean round trip of one message, in microseconds.
 * @param stderr of the pipeline
 * @throws RdpipeError if the count is missing.
 */
export function readTripUs(stderr: string): number {
  const [, trips, centiseconds] = new RegExp(`^${MARK} (\\d+) (\\d+)$`, 'm').exec(stderr) ?? [];
  const us = (Number(centiseconds) * 1e4) / Number(trips);
  if (!(us > 0)) throw new RdpipeError('bench', 125, 'rdpipe', `the ping-pong reported no time: ${stderr.trim()}`);
  return Math.round(us);
}

/** The shortest measurement, in hundredths of a second, the unit of /proc/uptime. */
const CS_MIN = 30;
const MARK = 'rdpipe-bench messages';
