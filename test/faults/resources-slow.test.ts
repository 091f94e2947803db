// SPDX-License-Identifier: Apache-2.0
import { describePatience } from './resources-slow-cases.ts';

describePatience(10);
