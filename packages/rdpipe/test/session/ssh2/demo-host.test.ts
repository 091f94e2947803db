import { expect } from 'chai';
import ssh2 from 'ssh2';
import { makeKeyPair } from '../../../src/session/ssh2/demo-host.ts';

describe('a key pair of the demo', () => {
  it('is well-formed each time', () => {
    for (let count = 0; count < 1000; count++) {
      const pair = makeKeyPair();
      for (const key of [pair.private, pair.public]) expect(ssh2.utils.parseKey(key), key).not.to.be.an('error');
    }
  });
});
