// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { describeReconnectCells, RECONNECT_CELLS } from './reconnect-hop.ts';

describe('a connection that breaks', () => describeReconnectCells(sample(RECONNECT_CELLS, 6)));
