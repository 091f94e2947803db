import { expect } from 'chai';
import { destinationOf } from '../../src/session/destination.ts';
import { connectError, isDroppedBeforeLogin, lostError } from '../../src/session/errors.ts';

const H2 = destinationOf({ name: 'h2', user: undefined, label: 'h2' }, { configFile: undefined, options: [] });

/** Messages of OpenSSH 9.2, with the resulting codes and reasons. */
const CASES = [
  ['ssh: connect to host 10.0.0.2 port 22: Connection refused\r\n', 'unreachable', 'connection refused on port 22'],
  ['ssh: connect to host h2 port 2222: No route to host\r\n', 'unreachable', 'no route to host on port 2222'],
  ['ssh: connect to host h2 port 22: Connection timed out\r\n', 'unreachable', 'connection timed out on port 22'],
  ['ssh: Could not resolve hostname h2: Name or service not known\r\n', 'unknown_host', 'unknown host h2'],
  [
    'No ED25519 host key is known for h2 and you have requested strict checking.\r\nHost key verification failed.\r\n',
    'host_key',
    'its host key is not known; connect once by hand and accept it',
  ],
  ['Host key verification failed.\r\n', 'host_key', 'its host key is not known; connect once by hand and accept it'],
  [
    '@@@@@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n@@@@@@@\r\nHost key verification failed.\r\n',
    'host_key',
    'its host key is not the one in known_hosts: someone may intercept the connection, or the host was reinstalled',
  ],
  ['ann@h2: Permission denied (publickey,password).\r\n', 'authentication', 'permission denied (publickey,password)'],
  [
    'Received disconnect from 10.0.0.2 port 22:2: Too many authentication failures\r\nDisconnected from 10.0.0.2 port 22\r\n',
    'authentication',
    'too many keys were refused; choose the right one with IdentityFile and IdentitiesOnly',
  ],
  [
    'kex_exchange_identification: read: Connection reset by peer\r\nConnection reset by 10.0.0.2 port 22\r\n',
    'unreachable',
    'the server closed the connection before login; it may be limiting simultaneous logins (MaxStartups)',
  ],
  [
    'channel 2: open failed: connect failed: Connection refused\r\nStdio forwarding request failed\r\nkex_exchange_identification: Connection closed by remote host\r\n',
    'unreachable',
    'its jump host reports: connection refused',
  ],
  [
    'channel 2: open failed: administratively prohibited: open failed\r\n',
    'unreachable',
    'its jump host reports: open failed',
  ],
  ['something \x1b[2Jnew\r\n', 'unreachable', 'something ␛[2Jnew'],
  ['', 'unreachable', 'ssh exited without a message'],
] as const;

describe('what ssh prints', () => {
  for (const [log, code, reason] of CASES) {
    it(`becomes: ${reason}`, () => {
      const error = connectError(H2, log);
      expect(error.code).to.equal(code);
      expect(error.host).to.equal('h2');
      expect(error.message).to.equal(`cannot reach h2: ${reason} (try: ssh h2 true)`);
    });
  }

  it('mentions the port of ssh, if -p named another', () => {
    const refused = 'ssh: connect to host h2 port 22: Connection refused\r\n';
    const message = (dataPort: number) => connectError({ ...H2, dataPort }, refused).message;
    expect(message(2222)).to.equal(
      'cannot reach h2: connection refused on port 22; -p sets the data port, use -o Port=2222 for ssh (try: ssh h2 true)',
    );
    expect(message(22)).to.equal('cannot reach h2: connection refused on port 22 (try: ssh h2 true)');
    expect(connectError({ ...H2, dataPort: 2222 }, 'Host key verification failed.\r\n').message).not.to.contain('-p');
  });

  it('is reduced to its last line when a connection is lost', () => {
    const log = 'Warning: something\r\nConnection to h2 closed by remote host.\r\n\r\n';
    expect(lostError('h2', log).message).to.equal('lost the connection to h2: Connection to h2 closed by remote host.');
    expect(lostError('h2', '').message).to.equal('lost the connection to h2');
  });

  for (const log of [
    'kex_exchange_identification: read: Connection reset by peer\r\nConnection reset by 10.0.0.2 port 22\r\n',
    'kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 10.0.0.2 port 22\r\n',
    'kex_exchange_identification: write: Broken pipe\r\n',
    'Connection reset by UNKNOWN port -1\r\n',
    'Connection closed by 10.0.0.2 port 22\r\n',
    'ssh: connect to host 10.0.0.2 port 22: Connection reset by peer\r\n',
  ]) {
    it(`causes another try: ${log.split('\r')[0]}`, () => expect(isDroppedBeforeLogin(log)).to.equal(true));
  }

  for (const log of [
    'ssh: connect to host 10.0.0.2 port 22: Connection refused\r\n',
    'ann@h2: Permission denied (publickey).\r\nConnection closed by 10.0.0.2 port 22\r\n',
    'Received disconnect from h2 port 22:2: Too many authentication failures\r\nConnection closed by 10.0.0.2 port 22\r\n',
    'kex_exchange_identification: banner line contains invalid characters\r\n',
    'Stdio forwarding request failed: Session open refused by peer\r\nkex_exchange_identification: Connection closed by remote host\r\nConnection closed by UNKNOWN port 65535\r\n',
    '',
  ]) {
    it(`causes no other try: ${log.split('\r')[0] || 'nothing'}`, () =>
      expect(isDroppedBeforeLogin(log)).to.equal(false));
  }
});
