// SPDX-License-Identifier: Apache-2.0
import { DATA_CELLS, describeDataCells } from '../faults/network-data.ts';

describe('the network of a hop, every cell', () => describeDataCells(DATA_CELLS));
