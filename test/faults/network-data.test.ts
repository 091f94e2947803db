// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { DATA_CELLS, describeDataCells } from './network-data.ts';

describe('the network of a hop', () => describeDataCells(sample(DATA_CELLS, 5)));
