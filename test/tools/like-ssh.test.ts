// SPDX-License-Identifier: Apache-2.0
import { sample } from '../support/sample.ts';
import { describeLikeSsh } from './like-ssh.ts';

describeLikeSsh((lines) => sample(lines, 5));
