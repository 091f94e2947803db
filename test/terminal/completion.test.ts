// SPDX-License-Identifier: Apache-2.0
// The Tab key in real shells, for some of the lines; test/full has all of them.
import { sample } from '../support/sample.ts';
import { LINES, testTab } from './tab-key.ts';

const LINES_AT_ONCE = 7;

describe('Tab', () => {
  testTab(sample(LINES, LINES_AT_ONCE));
});
