// SPDX-License-Identifier: Apache-2.0
import { describePatience } from '../faults/resources-slow-cases.ts';

describePatience(180);
