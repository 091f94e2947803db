// SPDX-License-Identifier: Apache-2.0
import { describeTerminal } from './cases.ts';

describeTerminal('checkout', { columns: 80, rows: 24 });
