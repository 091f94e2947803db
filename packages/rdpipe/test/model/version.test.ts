import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../src/model/version.ts';

describe('version', () => {
  it('is that of the package', () => {
    const path = join(import.meta.dirname, '..', '..', 'package.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.have.property('version', VERSION);
  });
});
