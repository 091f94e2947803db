// SPDX-License-Identifier: Apache-2.0
// A few of the messages that somebody on the way may change; test/full has all.
import { useBench } from '../support/programs.ts';
import { sample } from '../support/sample.ts';
import { checkTampering, nameOf, TAMPERINGS } from './wire/tampering.ts';

const SAMPLE = 60;

describe('a message that is tampered with', () => {
  const bench = useBench();

  for (const tampering of sample(TAMPERINGS, SAMPLE))
    it(`${nameOf(tampering)} ${tampering.change.name}`, () => checkTampering(bench, tampering));
});
