import { expect } from 'chai';
import { checkCommand, destinationArguments, destinationOf, jumpDestination } from '../../src/session/destination.ts';

const PLAIN = { configFile: undefined, options: [] };

describe('a destination', () => {
  it('is passed to ssh in arguments that it cannot turn into options', () => {
    const host = { name: 'fe80::1%eth0', user: 'ann', label: 'ann@[fe80::1%eth0]' };
    const choice = { configFile: 'my config', options: ['Port=2222', 'ProxyCommand=nc %h %p'] };
    expect(destinationArguments(destinationOf(host, choice))).to.deep.equal([
      ...['-F', 'my config'],
      ...['-o', 'Port=2222', '-o', 'ProxyCommand=nc %h %p'],
      ...['-l', 'ann'],
      ...['--', 'fe80::1%eth0'],
    ]);
  });

  it('is checked by a line that can be pasted', () => {
    const host = { name: 'h1', user: 'ann', label: 'ann@h1' };
    expect(checkCommand(destinationOf(host, PLAIN))).to.equal('ssh ann@h1 true');
    const choice = { configFile: 'my config', options: ['Port=2222', "ProxyCommand=it's %h"] };
    expect(checkCommand(destinationOf(host, choice))).to.equal(
      `ssh -F 'my config' -o Port=2222 -o 'ProxyCommand=it'\\''s %h' ann@h1 true`,
    );
  });

  for (const [word, wanted] of [
    ['jump', { name: 'jump' }],
    ['ann@jump', { name: 'jump', user: 'ann' }],
    ['ann@corp@jump:2222', { name: 'jump', user: 'ann@corp', port: '2222' }],
    ['[2001:db8::1]:2222', { name: '2001:db8::1', port: '2222' }],
    ['[2001:db8::1]', { name: '2001:db8::1' }],
    ['2001:db8::1', { name: '2001:db8::1' }],
    ['ssh://ann@jump:2222', { name: 'jump', user: 'ann', port: '2222' }],
    ['ssh://jump/', { name: 'jump' }],
  ] as const) {
    it(`may be the jump host ${word}`, () => {
      const { name, user, port } = jumpDestination(word, [], undefined);
      expect({ name, user, port }).to.deep.equal({ user: undefined, port: undefined, ...wanted });
    });
  }

  it("is reached through the jump hosts before it, with the user's -F and without -o", () => {
    const jump = jumpDestination('c', ['a', 'b'], 'file');
    expect(destinationArguments(jump)).to.deep.equal(['-F', 'file', '-o', 'ProxyJump=a,b', '--', 'c']);
  });
});
