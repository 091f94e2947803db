// SPDX-License-Identifier: Apache-2.0
// The Tab key in real shells, all lines.
import { LINES, testTab } from '../terminal/tab-key.ts';

describe('Tab', () => {
  testTab(LINES);
});
