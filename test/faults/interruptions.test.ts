// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { describeInterruptions, INTERRUPTED_RUNS } from './interruption-cases.ts';

describeInterruptions(sample(INTERRUPTED_RUNS, 2));
