// SPDX-License-Identifier: Apache-2.0
// Completion events over RDMA: each message wakes its receiver, however long the pause before it.
import { expect } from 'chai';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const TRIPS = 50;
/** A wake-up that is lost is made good by the next PING only, a second later. */
const SLOW_SECONDS = 0.9;
/** Of the emulated hosts' own doing. */
const SLOW_TRIPS_MOST = 3;

/** Prints a line, waits until it has come back, and counts how often that took long. */
const PING_PONG = `
  use Time::HiRes "time";
  $| = 1;
  open(my $back, "+<", "/tmp/back") or die;
  for my $number (1 .. ${TRIPS}) {
    my $began = time;
    print "$number\\n";
    <$back> == $number or die "another line came back";
    $slow++ if time - $began > ${SLOW_SECONDS};
  }
  open(my $told, ">", "/tmp/slow-trips") or die;
  print $told $slow + 0;
`;

describe('over RDMA', () => {
  const lab = useVirtualHosts();

  before(() => lab.on('h1', 'mkfifo /tmp/back'));
  after(() => lab.restore('h1', 'rm -f /tmp/back /tmp/slow-trips'));

  it('wakes the receiver for every message, however rare', async () => {
    const stages = `h1:"exec perl -e '$PING_PONG'" h2:cat h1:'exec cat > /tmp/back'`;
    const result = await lab.sh(`rdpipe --json --connect-timeout 30 ${stages} > /dev/null`, { PING_PONG });
    succeededOver(result, '', ['rdma', 'rdma']);
    expect(Number(await lab.on('h1', 'cat /tmp/slow-trips'))).to.be.at.most(SLOW_TRIPS_MOST);
  });
});
