// SPDX-License-Identifier: Apache-2.0
import { describePatience } from '../faults/resources-patience-cases.ts';

describePatience(180);
