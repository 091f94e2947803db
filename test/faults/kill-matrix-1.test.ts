// SPDX-License-Identifier: Apache-2.0
import { describeSample } from '../support/kill-matrix/describe-sample.ts';

describeSample('of one stage', (shape) => shape.stages.length === 1);
