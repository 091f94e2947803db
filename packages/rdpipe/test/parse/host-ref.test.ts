import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
import { endOfHost, hostKey, parseHostRef, readRelay } from '../../src/parse/host-ref.ts';
import { binary, usageErrorOf } from './helpers.ts';

describe('host-ref', () => {
  const HOSTS: readonly (readonly [string, string, string | undefined, string])[] = [
    ['', '', undefined, 'this machine'],
    ['h1', 'h1', undefined, 'h1'],
    ['ann@h1', 'h1', 'ann', 'ann@h1'],
    ['ann@corp@h1', 'h1', 'ann@corp', 'ann@corp@h1'],
    ['[2001:db8::1]', '2001:db8::1', undefined, '[2001:db8::1]'],
    ['ann@[fe80::1%eth0]', 'fe80::1%eth0', 'ann', 'ann@[fe80::1%eth0]'],
    ['rechner-ü', 'rechner-ü', undefined, 'rechner-ü'],
    ['CORP\\ann$@h1', 'h1', 'CORP\\ann$', 'CORP\\ann$@h1'],
  ];
  for (const [text, name, user, label] of HOSTS) {
    it(`reads '${text}'`, () => {
      expect(parseHostRef(binary(text))).to.deep.equal({ name, user, label });
    });
  }

  const WRONG: readonly (readonly [string, string])[] = [
    ['-oProxyCommand=x', "host -oProxyCommand=x begins with '-'"],
    ['ann@-x', "host -x begins with '-'"],
    ['@h1', 'host @h1 has no user before @'],
    ['ann@', 'user ann@ has no host after @'],
    ['a b', "host 'a b' contains white space"],
    ['a\u00a0b', "host 'a\u00a0b' contains white space"],
    ['a\tb', "host 'a\u2409b' contains white space"],
    ['a\u001bb', "host 'a\u241bb' contains a control character"],
    ['$(reboot)', "host $(reboot): a host name cannot contain '$'"],
    ['h1;reboot', "host h1;reboot: a host name cannot contain ';'"],
    ['`reboot`', "host `reboot`: a host name cannot contain '`'"],
    ["h'1", "host h'1: a host name cannot contain '''"],
    ['a|b@h1', "user a|b: a user name cannot contain '|'"],
    ['$(reboot)@h1', "user $(reboot): a user name cannot contain '('"],
    ['ann\\@h1', "user ann\\: a user name cannot contain '\\'"],
    ['[h1]', '[h1] is not an IPv6 address in brackets'],
    ['[::1]x', '[::1]x is not an IPv6 address in brackets'],
    ['[]', '[] is not an IPv6 address in brackets'],
  ];
  for (const [text, message] of WRONG) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(usageErrorOf(() => parseHostRef(binary(text))).message).to.equal(message);
    });
  }

  it('refuses bytes that are not UTF-8', () => {
    expect(usageErrorOf(() => parseHostRef('h\xff')).message).to.equal('host h\ufffd is not valid UTF-8');
  });

  const ENDS: readonly (readonly [string, number])[] = [
    [':cmd', 0],
    ['h1:cmd', 2],
    ['h1:a:b', 2],
    ['[::1]:cmd', 5],
    ['ann@[::1]:cmd', 9],
    ['rev', -1],
    ['[::1]', -1],
    ['[::1', -1],
    ['h1:[ -f x ]', 2],
    ['', -1],
  ];
  for (const [word, index] of ENDS) {
    it(`finds the end of the host in '${word}'`, () => {
      expect(endOfHost(word)).to.equal(index);
    });
  }

  it('throws nothing but usage errors, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseHostRef(binary(text));
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
        }
      }),
    );
  });

  it('reads the relay host, or a word in its place', () => {
    expect(['auto', 'never'].map(readRelay)).to.deep.equal(['auto', 'never']);
    expect(readRelay('ann@[2001:db8::1]')).to.deep.equal(parseHostRef('ann@[2001:db8::1]'));
    for (const text of [':', 'gw:', 'gw:cmd', '-x', 'a b']) expect(() => readRelay(text)).to.throw(UsageError);
  });

  it('reads its own label back as the same user and host', () => {
    const name = fc.oneof(fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/), fc.ipV6());
    const user = fc.option(fc.stringMatching(/^[a-z_][a-z0-9_@.-]{0,10}$/), { nil: undefined });
    fc.assert(
      fc.property(name, user, (host, who) => {
        const written = (who === undefined ? '' : `${who}@`) + (host.includes(':') ? `[${host}]` : host);
        const parsed = parseHostRef(written);
        expect(parsed).to.deep.equal({ name: host, user: who, label: written });
        expect(parseHostRef(parsed.label)).to.deep.equal(parsed);
        expect(hostKey(parsed)).to.equal(who === undefined ? host : `${who}@${host}`);
        expect(endOfHost(`${written}:cmd`)).to.equal(written.length);
      }),
    );
  });
});
