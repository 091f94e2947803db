// SPDX-License-Identifier: Apache-2.0
import { describeInterruptions, INTERRUPTED_RUNS } from '../faults/interruption-cases.ts';

describeInterruptions(INTERRUPTED_RUNS);
