// SPDX-License-Identifier: Apache-2.0
// Completion events over RDMA: each message wakes its receiver, after a pause of any length.
import { expect } from 'chai';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

const TRIPS = 50;
/** Only the next PING, a second later, makes up for a lost wake-up. */
const SLOW_SECONDS = 0.9;
/** Slow trips due to the emulated hosts, in addition to three times as many as TCP has at the same time. */
const SLOW_TRIPS_MAX = 3;

const TRANSPORTS = ['rdma', 'tcp'] as const;
type Transport = (typeof TRANSPORTS)[number];

/** Prints a line, waits until it has come back, and counts the trips that took long. */
const pingPong = (transport: Transport) => `
  use Time::HiRes "time";
  $| = 1;
  open(my $back, "+<", "/tmp/back-${transport}") or die;
  for my $number (1 .. ${TRIPS}) {
    my $began = time;
    print "$number\\n";
    <$back> == $number or die "another line came back";
    $slow++ if time - $began > ${SLOW_SECONDS};
  }
  open(my $told, ">", "/tmp/slow-trips-${transport}") or die;
  print $told $slow + 0;
`;

describe('over RDMA', () => {
  const lab = useVirtualHosts();

  before(() => lab.on('h1', `mkfifo ${TRANSPORTS.map((transport) => `/tmp/back-${transport}`).join(' ')}`));
  after(() => lab.restore('h1', 'rm -f /tmp/back-* /tmp/slow-trips-*'));

  it('wakes the receiver for every message, however rare', async () => {
    const [rdma = 0, tcp = 0] = await Promise.all(TRANSPORTS.map(slowTrips));
    expect(rdma, `and ${tcp} over TCP`).to.be.at.most(SLOW_TRIPS_MAX + 3 * tcp);
  });

  /** Returns the number of slow trips, on a busy machine perhaps all of TRIPS. */
  async function slowTrips(transport: Transport): Promise<number> {
    const stages = `h1:"exec perl -e '$PING_PONG'" h2:cat h1:'exec cat > /tmp/back-${transport}'`;
    const words = `--json --connect-timeout 60 --transport ${transport}`;
    const result = await lab.sh(`rdpipe ${words} ${stages} > /dev/null`, { PING_PONG: pingPong(transport) });
    succeededOver(result, '', [transport, transport]);
    return Number(await lab.on('h1', `cat /tmp/slow-trips-${transport}`));
  }
});
