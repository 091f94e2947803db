// SPDX-License-Identifier: Apache-2.0
// The path of the checkout.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
