// SPDX-License-Identifier: Apache-2.0
/** All third-party components that are inside the packages, found in what the build left behind. */
import { bundledPackages } from './bundled-packages.ts';
import { byPurl, type Component } from './component.ts';
import { linkedPackages } from './linked-packages.ts';

/**
 * Sorted, for packages with the programs of these CPUs. The bundle and the programs must be built; a component without
 * its licence is an error.
 */
export function components(cpus?: readonly string[]): readonly Component[] {
  return [...bundledPackages(), ...linkedPackages(cpus)].sort(byPurl);
}
