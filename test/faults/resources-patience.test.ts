// SPDX-License-Identifier: Apache-2.0
import { describePatience } from './resources-patience-cases.ts';

describePatience(10);
