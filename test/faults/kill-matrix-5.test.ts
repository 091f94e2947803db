// SPDX-License-Identifier: Apache-2.0
import { describeSample } from '../support/kill-matrix/describe-sample.ts';

describeSample('of five stages', (shape) => shape.stages.length === 5);
