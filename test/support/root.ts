// SPDX-License-Identifier: Apache-2.0
// The path of the checkout.
import { join } from 'node:path';

/** This checkout. */
export const ROOT = join(import.meta.dirname, '../..');
