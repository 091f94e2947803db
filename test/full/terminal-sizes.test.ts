// SPDX-License-Identifier: Apache-2.0
// Wide and narrow terminals, and an installed copy; test/terminal tests the checkout at 80x24.
import { describeTerminal } from '../terminal/cases.ts';

describeTerminal('installed', { columns: 80, rows: 24 });
for (const copy of ['checkout', 'installed'] as const) {
  describeTerminal(copy, { columns: 200, rows: 50 });
  describeTerminal(copy, { columns: 60, rows: 20 });
}
