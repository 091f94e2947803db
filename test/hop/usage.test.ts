// SPDX-License-Identifier: Apache-2.0
// Invalid arguments: exit status 2, and a line that names the argument.
import { join } from 'node:path';
import { expect } from 'chai';
import { BIN, useBench } from '../support/programs.ts';

type Row = readonly [line: string, message: string];

const ROWS: readonly Row[] = [
  ['rdsend', 'HOST, PORT and KEY are needed'],
  ['rdrecv', 'PORT is needed'],
  ['rdsend h 1 -- true', 'HOST, PORT and KEY are needed'],
  ['rdsend --no-such h 1 k', 'unknown option --no-such'],
  ['rdsend --buffer', '--buffer needs a value'],
  ['rdsend --buffer 1K h 1 k', '--buffer must be a size from 64KiB to 1GiB, not 1K'],
  ['rdsend --encrypt maybe h 1 k', '--encrypt must be auto, always, auth or never, not maybe'],
  ['rdsend --compress lz4 h 1 k', '--compress must be zstd, zstd:LEVEL (1 to 19) or none, not lz4'],
  ['rdsend --jobs 65 h 1 k', '--jobs must be a number of threads from 0 to 64, not 65'],
  ['rdsend --limit 0 h 1 k', '--limit must be a rate from 1 B/s to 1 PiB/s, or none, not 0'],
  ['rdsend --numa 1 h 1 k', '--numa must be auto or off, not 1'],
  ['rdrecv --compress zstd 0 k', '--compress is an option of rdsend'],
  ['rdrecv --limit 1M 0 k', '--limit is an option of rdsend'],
  ['rdsend --transport pigeon h 1 k', '--transport must be auto, rdma or tcp, not pigeon'],
  ['rdsend --progress some h 1 k', '--progress must be auto, live, plain or none, not some'],
  ['rdsend --stall-timeout 1 h 1 k', '--stall-timeout must be a number of seconds, at least 2, not 1'],
  ['rdsend --connect-timeout 0 h 1 k', '--connect-timeout must be a number of seconds, at least 0.001, not 0'],
  ['rdsend --bind ::1 h 1 k', '--bind is an option of rdrecv'],
  ['rdsend --rdma-check', '--rdma-check is an option of rdrecv'],
  ['rdsend h 1 k --verbose', 'one FILE, or -- and a COMMAND, may follow KEY (put options first)'],
  ['rdsend h 1 k one two', 'one FILE, or -- and a COMMAND, may follow KEY (put options first)'],
  ['rdsend -A h 1 0123456789abcdef /dev/null', '-A needs a FILE that is a directory'],
  ['rdrecv -X 0 0123456789abcdef', '-X needs a FILE that is a directory'],
  ['rdrecv --key-fd 0 0 k', 'with --key-fd, KEY must be -'],
  ['rdstage', 'this program is started by rdpipe, with --agent'],
  ['rdstage --no-such', 'unknown option, or its value is missing'],
  ['rdstage --die-with-parent', '--die-with-parent needs a command'],
  ['rdstage --offer --nonce x', '--offer needs a program'],
  ['rdstage --agent', '--agent and --offer need --nonce NONCE'],
  ['rdstage --agent --nonce n more', '--agent takes no further arguments'],
  ["rdstage --agent --nonce 'a b'", 'the nonce must be printable ASCII without spaces'],
  [
    'rdstage --agent --nonce n --user-stdin 77',
    '--user-stdin, --user-stdout and --served take an open descriptor above 2',
  ],
];

describe('a usage error of the native programs', () => {
  const bench = useBench();

  for (const [line, message] of ROWS)
    it(line, async () => {
      const [program = ''] = line.split(' ');
      const { status, stderr, stdout } = await bench.bash(`exec ${join(BIN, line)}`).ended;
      expect(stderr.split('\n')[0]).to.equal(`${program}: ${message}`);
      expect({ status, stdout: stdout.toString() }).to.deep.equal({ status: 2, stdout: '' });
    });
});
