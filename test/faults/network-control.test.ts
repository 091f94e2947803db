// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { CONTROL_CELLS, describeControlCells } from './network-control.ts';

describe('the network of control', () => describeControlCells(sample(CONTROL_CELLS, 5)));
