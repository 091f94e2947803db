// SPDX-License-Identifier: Apache-2.0
import { COMMANDS, testUnchanged } from '../integration/commands.ts';
import { useLab } from '../support/lab.ts';

describe('a command, any command', () => testUnchanged(useLab(), COMMANDS));
