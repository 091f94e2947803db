import { expect } from 'chai';
import { runProgram } from '../../../../test/support/run-program.ts';
import { loginCommand, readSshSample, type SshRoute, streamCommand } from '../../src/bench/ssh-method.ts';
import type { HostRef } from '../../src/model/pipeline.ts';

const LOCAL: HostRef = { name: '', user: undefined, label: 'this machine' };
const host = (name: string, user?: string): HostRef => ({
  name,
  user,
  label: user === undefined ? name : `${user}@${name}`,
});
const settings = {
  sshProgram: undefined,
  sshConfigFile: "/tmp/it's",
  sshOptions: ['Port=2222'],
  connectTimeoutMs: 10_000,
};
const [H1, H2] = [host('h1'), host('h2', 'ann')];
const DIRECT: SshRoute = { at: H1, from: H1, to: H2, settings };
const THROUGH: SshRoute = { at: LOCAL, from: H1, to: H2, settings };
const STAT = (name: string, ...ticks: readonly number[]) =>
  `9 (${name}) S 1 2 3 4 5 6 7 8 9 10 ${ticks.join(' ')} 20 0`;

/** The arguments of each call of `ssh`, which is a shell function that prints them and reads its input. */
function callsOf(command: string): readonly string[] {
  const script = `ssh() { call=$(printf '%s|' "$@"); echo "$call" >&2; cat >/dev/null; }; ${command}`;
  const { stderr } = runProgram('sh', ['-c', script], { input: '' });
  return stderr.split('\n').filter((line) => line.startsWith('-T|'));
}

describe('the ssh method', () => {
  it('asks nothing, remembers nothing, and uses the configuration of this machine only on it', () => {
    const [direct] = callsOf(loginCommand(DIRECT));
    expect(direct).to.match(/BatchMode=yes.*StrictHostKeyChecking=yes.*ControlPath=none.*\|--\|ann@h2\|true\|$/);
    expect(direct).not.to.contain('-F|');
    const through = callsOf(loginCommand(THROUGH));
    expect(
      through.map((call) => call.match(/\|-F\|\/tmp\/it's\|-o\|Port=2222\|--\|(.*)\|true\|$/)?.[1]),
    ).to.have.members(['h1', 'ann@h2']);
  });

  it('sends from host to host, or through this machine', () => {
    expect(callsOf(streamCommand(DIRECT, 100)).map((call) => call.split('|--|')[1]?.split('|')[0])).to.have.members([
      'ann@h2',
      'ann@h2',
    ]);
    const hosts = callsOf(streamCommand(THROUGH, 100)).map((call) => call.split('|--|')[1]?.split('|')[0]);
    expect(hosts).to.have.members(['ann@h2', 'h1', 'ann@h2']);
  });

  it('uses remote commands without apostrophes, for every login shell', () => {
    for (const call of callsOf(streamCommand(THROUGH, 100))) {
      const command =
        call
          .split('|--|')[1]
          ?.replace(/^[^|]*\|/, '')
          .replace(/\|$/, '') ?? '';
      expect(command).to.match(/^(true|exec sh -c '[^']*')$/);
    }
  });

  it('reports the time that it really took', () => {
    const alone: SshRoute = { at: LOCAL, from: LOCAL, to: LOCAL, settings };
    const bytes = 200 * 1024 ** 2;
    const { stderr } = runProgram('sh', ['-c', `ssh() { :; }; ${streamCommand(alone, bytes)}`]);
    const sample = readSshSample(stderr, alone, bytes, 1.5);
    expect(sample).to.include({ bytes, fromCpuS: 1.5, toCpuS: 1.5 });
    expect(sample.bytesPerSecond).to.be.closeTo(bytes / sample.seconds, 1);
    expect(sample.roundTripUs).to.be.within(0, 1e6);
  });

  it('counts the server of a login and what ran in it', () => {
    const said = [
      'a banner',
      'rdpipe-bench login 100.00 100.25',
      'rdpipe-bench took 101.00 103.00',
      'rdpipe-bench to 100',
      `rdpipe-bench to-stat ${STAT('sshd-session: x', 100, 50, 7, 7)}`,
      `rdpipe-bench to-stat ${STAT('sh', 1, 1, 20, 30)}`,
    ].join('\n');
    expect(readSshSample(said, DIRECT, 4000, 3)).to.deep.equal({
      bytes: 4000,
      seconds: 2,
      bytesPerSecond: 2000,
      fromCpuS: 3,
      toCpuS: 2,
      roundTripUs: 250_000,
      pingPongUs: null,
    });
    expect(readSshSample(said.replace('(sshd', '(wrapper'), DIRECT, 4000, 3).toCpuS).to.equal(null);
  });

  it('fails if no time was reported, or none passed', () => {
    expect(() => readSshSample('', DIRECT, 1, 0)).to.throw(/no time for 1 bytes/);
    expect(() => readSshSample('rdpipe-bench took 5.00 5.00', DIRECT, 1, 0)).to.throw(
      /too few \(use a larger --size\)/,
    );
  });
});
