// SPDX-License-Identifier: Apache-2.0
// The include rules of the C sources: in the core a unit includes only what lies below it, so no chain of includes leads
// back to where it began; and each library belongs to the units that are there for it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = join(import.meta.dirname, '../packages');

const OWNERS: readonly { readonly library: RegExp; readonly units: RegExp }[] = [
  { library: /^openssl\//, units: /^(rdcore-native\/crypto\/(handshake|seal)|rdstage-native\/run\/program_sums)$/ },
  { library: /^xxhash\.h$/, units: /^rdcore-native\/crypto\/digest(_avx2)?$/ },
  { library: /^(infiniband|rdma)\//, units: /^rdcore-native\/transport\/verbs\/\w+$/ },
];

/** A unit is a .c file, its header, or both: `rdcore-native/base/ring`. */
interface Unit {
  readonly name: string;
  /** Units that it includes. */
  readonly own: Set<string>;
  /** What it includes in angle brackets. */
  readonly foreign: Set<string>;
}

const units = readUnits();
const complaints = [...[...units.values()].flatMap(strangers), ...circles()];
for (const line of complaints) console.error(line);
process.exitCode = complaints.length > 0 || units.size === 0 ? 1 : 0;

function readUnits(): Map<string, Unit> {
  const found = new Map<string, Unit>();
  for (const file of sourceFiles()) {
    const name = unitName(file);
    const unit = found.get(name) ?? { name, own: new Set(), foreign: new Set() };
    found.set(name, unit);
    for (const [, mark, header = ''] of readFileSync(join(PACKAGES, file), 'utf8').matchAll(
      /^#include ([<"])(.*)[>"]/gm,
    )) {
      if (mark === '<') unit.foreign.add(header);
      else unit.own.add(header);
    }
  }
  for (const unit of found.values()) resolveOwn(unit, found);
  return found;
}

function sourceFiles(): string[] {
  const files = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /^[a-z]+-native\/src\/[\w/]+\.[ch]$/.test(file)).sort();
}

function unitName(file: string): string {
  return file.replace('/src/', '/').replace(/\.[ch]$/, '');
}

/** Headers to units: of its own package, else of the core. */
function resolveOwn(unit: Unit, all: ReadonlyMap<string, Unit>): void {
  const headers = [...unit.own].map((header) => header.replace(/\.h$/, ''));
  unit.own.clear();
  for (const header of headers) {
    const near = `${unit.name.split('/')[0]}/${header}`;
    const target = all.has(near) ? near : `rdcore-native/${header}`;
    if (target !== unit.name) unit.own.add(target);
  }
}

function strangers({ name, foreign }: Unit): string[] {
  const wrong = OWNERS.flatMap(({ library, units: owners }) =>
    owners.test(name) ? [] : [...foreign].filter((header) => library.test(header)),
  );
  return wrong.map((header) => `${name} includes <${header}>, which is not its business`);
}

/** Of the core, depth first; a unit met again on the way down closes a circle. */
function circles(): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (name: string, way: readonly string[]): void => {
    if (way.includes(name))
      found.push(`includes go in a circle: ${[...way.slice(way.indexOf(name)), name].join(' → ')}`);
    if (way.includes(name) || done.has(name)) return;
    for (const next of units.get(name)?.own ?? []) visit(next, [...way, name]);
    done.add(name);
  };
  for (const name of units.keys()) if (name.startsWith('rdcore-native/')) visit(name, []);
  return found;
}
