// SPDX-License-Identifier: Apache-2.0
/** All third-party components of the packages, found in the results of the build. */
import { bundledPackages } from './bundled-packages.ts';
import { byPurl, type Component } from './component.ts';
import { linkedPackages } from './linked-packages.ts';

/**
 * Returns them sorted, for packages with the programs of these CPUs. The bundle and the programs must be built.
 * @throws if a component has no licence.
 */
export function components(cpus?: readonly string[]): readonly Component[] {
  return [...bundledPackages(), ...linkedPackages(cpus)].sort(byPurl);
}
