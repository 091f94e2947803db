// SPDX-License-Identifier: Apache-2.0
// An installed copy on wide and narrow terminals; at 80x24 it is in test/terminal.
import { describeTerminal } from '../terminal/cases.ts';

describeTerminal('installed', { columns: 200, rows: 50 });
describeTerminal('installed', { columns: 60, rows: 20 });
