// SPDX-License-Identifier: Apache-2.0
import { CONTROL_CELLS, describeControlCells } from '../faults/network-control.ts';

describe('the network of control, every cell', () => describeControlCells(CONTROL_CELLS));
