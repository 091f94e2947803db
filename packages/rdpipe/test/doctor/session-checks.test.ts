import { expect } from 'chai';
import type { HostFacts, Trouble } from '../../src/doctor/facts.ts';
import {
  checkAgent,
  checkDisk,
  checkEncryption,
  checkSsh,
  checkSudo,
  checkSystem,
} from '../../src/doctor/session-checks.ts';
import type { Finding, Verdict } from '../../src/model/examination.ts';
import { expectFinding, hostFacts, SYSTEM } from './samples.ts';

type Check = (facts: HostFacts) => readonly Finding[];
type Row = readonly [name: string, Check, HostFacts, Verdict, found: RegExp, fix?: RegExp];

const CACHE = { directory: '/home/ann/.cache', mountPoint: '/home', freeKib: 1024 ** 2, noexec: false };
const trouble = (code: Trouble['code'], message = 'cannot reach h1: why'): Trouble => ({ code, message });
const unreached = (code: Trouble['code']) => hostFacts({ ssh: trouble(code), session: undefined }, null, null);

const byLibrary = hostFacts({ ssh: { client: 'ssh2', took: { connectMs: 10, loginMs: 1000 } } });
const shared = hostFacts({ ssh: { client: 'openssh', took: undefined } });

const ROWS: readonly Row[] = [
  ['a login', checkSsh, hostFacts(), 'ok', /^the system's ssh, connected in 0\.1 s, login in 0\.3 s$/],
  ['a shared connection', checkSsh, shared, 'ok', /^the system's ssh, over a connection that was already open$/],
  ['a login by ssh2', checkSsh, byLibrary, 'ok', /ssh2, connected in 0\.0 s, login in 1\.0 s/],
  ['an unknown host', checkSsh, unreached('unknown_host'), 'fail', /^cannot reach h1: why$/, /DNS/],
  ['a refused key', checkSsh, unreached('authentication'), 'fail', /why/, /ssh-copy-id h1/],
  ['a login that hangs', checkSsh, unreached('login_timeout'), 'fail', /why/, /ssh -v h1.*PAM/],
  ['a strange host key', checkSsh, unreached('host_key'), 'fail', /why/, /ssh h1$/],
  ['a host that is down', checkSsh, unreached('unreachable'), 'fail', /why/, /sshd/],
  ['sudo', checkSudo, hostFacts({}, {}, { sudo: { ok: true, words: '' } }), 'ok', /works/],
  [
    'sudo with a password',
    checkSudo,
    hostFacts({}, {}, { sudo: { ok: false, words: 'sudo: a password is required' } }),
    'fail',
    /a password is required/,
    /NOPASSWD/,
  ],
  [
    'an agent',
    checkAgent,
    hostFacts(),
    'ok',
    /^0\.1\.0 in \/home\/ann\/\.cache\/rdpipe, Linux x86_64, with prog.*, started in 0\.1 s$/,
  ],
  ['a new OpenSSL', checkEncryption, hostFacts(), 'ok', /^OpenSSL 3\.5\.9$/],
  ['the oldest that is fast', checkEncryption, hostFacts({}, {}, { openssl: '3.1.0' }), 'ok', /^OpenSSL 3\.1\.0$/],
  [
    'an old OpenSSL on a CPU with wide AES',
    checkEncryption,
    hostFacts({}, {}, { openssl: '3.0.19' }),
    'ok',
    /^OpenSSL 3\.0\.19; a later one encrypts up to four times as fast on this CPU \(install .*npm run dist.*\)$/,
  ],
  [
    'an old OpenSSL on another CPU',
    checkEncryption,
    hostFacts({}, {}, { openssl: '3.0.19', wideAes: false }),
    'ok',
    /^OpenSSL 3\.0\.19$/,
  ],
  ['static programs', checkAgent, hostFacts({}, {}, { programs: 'static' }), 'ok', /Linux x86_64, started/],
  ['an agent whose place is not known', checkAgent, hostFacts({}, {}, null), 'ok', /^0\.1\.0, Linux x86_64, st/],
  [
    'no agent',
    checkAgent,
    { ...hostFacts(), hello: trouble('no_agent', 'h1 runs Linux on riscv64, for which this rdpipe has no agent') },
    'fail',
    /this rdpipe has no agent/,
    /--agent PATH/,
  ],
  [
    'a slow shell',
    checkAgent,
    { ...hostFacts(), hello: trouble('slow_shell') },
    'fail',
    /why/,
    /time ssh h1 true.*bashrc/,
  ],
  [
    'no shell',
    checkAgent,
    { ...hostFacts(), hello: trouble('no_shell') },
    'fail',
    /why/,
    /command= in its authorized_keys/,
  ],
  ['no answer', checkSystem, { ...hostFacts(), system: trouble('no_agent', 'no answer') }, 'fail', /no answer/, /ssh/],
  ['room', checkDisk, hostFacts(), 'ok', /^1\.0 GiB free in \/home\/ann\/\.cache$/],
  [
    'little space',
    checkDisk,
    hostFacts({}, {}, { cache: { ...CACHE, freeKib: 1000 } }),
    'warn',
    /1000\.0 KiB/,
    /free some space/,
  ],
  [
    'noexec, with another directory',
    checkDisk,
    hostFacts({}, {}, { cache: { ...CACHE, noexec: true }, agentDirectory: '/var/tmp/rdpipe-1000/0123' }),
    'warn',
    /\/home is mounted noexec.*\/var\/tmp\/rdpipe-1000/,
    /no action needed/,
  ],
  [
    'noexec everywhere',
    checkDisk,
    { ...hostFacts({}, null, { cache: { ...CACHE, noexec: true } }), hello: trouble('no_agent') },
    'fail',
    /noexec/,
    /mount -o remount,exec \/home/,
  ],
];

describe('checks of a session', () => {
  for (const [name, check, facts, verdict, found, fix] of ROWS) {
    it(`judge ${name}: ${verdict}`, () => expectFinding(check(facts)[0], verdict, found, fix));
  }

  it('have no finding for a host that was not reached or not asked', () => {
    const nothing = unreached('unreachable');
    expect(
      [checkSudo, checkAgent, checkEncryption, checkSystem, checkDisk].flatMap((check) => check(nothing)),
    ).to.deep.equal([]);
    expect(checkSudo(hostFacts())).to.deep.equal([]);
    expect(checkSsh(hostFacts({ ssh: { client: 'local', took: undefined } }))).to.deep.equal([]);
    const took = { connectMs: 200, loginMs: 0 };
    expect(checkSsh(hostFacts({ launcher: 'podman', ssh: { client: 'launcher', took } }))).to.deep.equal([
      { check: 'launcher', result: 'ok', found: 'podman, a shell in 0.2 s', fix: null },
    ]);
    expect(checkDisk(hostFacts({}, {}, { ...SYSTEM, cache: null }))).to.deep.equal([]);
  });
});
