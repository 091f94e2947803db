// SPDX-License-Identifier: Apache-2.0
import { describeReconnectCells, RECONNECT_CELLS } from '../faults/reconnect-hop.ts';

describe('a connection that breaks, every cell', () => describeReconnectCells(RECONNECT_CELLS));
