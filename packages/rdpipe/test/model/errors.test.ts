// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync } from 'node:fs';
import { expect } from 'chai';
import { shortageOf } from '../../src/model/errors.ts';

describe('a shortage', () => {
  it('differs from a defect, and its message names the remedy', () => {
    const error = Object.assign(new Error('spawn ssh EMFILE'), { code: 'EMFILE' });
    const shortage = shortageOf(error);
    expect(shortage?.message).to.equal(
      'this machine: too many open files (ulimit -n raises the limit): spawn ssh EMFILE',
    );
    expect(shortage).to.include({ status: 125, causeKind: 'rdpipe', cause: error });
  });

  it('is not any other failure', () => {
    expect(shortageOf(new TypeError('x is undefined'))).to.equal(undefined);
    expect(shortageOf('EMFILE')).to.equal(undefined);
    try {
      mkdtempSync('/nowhere/x');
    } catch (error) {
      expect(shortageOf(error)).to.equal(undefined);
    }
  });
});
