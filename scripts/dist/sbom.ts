// SPDX-License-Identifier: Apache-2.0
/** The bill of materials as CycloneDX JSON: rdpipe, its native programs, and their components. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import parseExpression from 'spdx-expression-parse';
import { PROGRAMS } from '../../packages/rdpipe/src/agent/locate.ts';
import { VERSION } from '../../packages/rdpipe/src/model/version.ts';
import { type Component, makePurl } from './component.ts';
import { components } from './components.ts';
import { type Build, checkoutBuilds } from './linked-packages.ts';

const LICENCES = new Contrib.License.Factories.LicenseFactory(parseExpression);
const { ComponentType, ExternalReferenceType, HashAlgorithm } = Enums;

export function writeSbom(file: string, builds: readonly Build[] = checkoutBuilds()): void {
  const paths = builds.flatMap(({ name, programs }) =>
    PROGRAMS.map((program) => [`${name}/${program}`, join(programs, program)] as const),
  );
  const sums = new Map(paths.sort().map(([name, path]) => [name, sha256(readFileSync(path))]));
  writeFileSync(file, sbom(components(builds), sums));
}

/**
 * `programs`: the SHA-256 of each. The text depends only on these arguments: it has no time, and its serial number is a
 * digest of the rest.
 */
export function sbom(all: readonly Component[], programs: ReadonlyMap<string, string>): string {
  const bom = new Models.Bom();
  const product = describeProduct();
  bom.metadata.component = product;
  const parts = new Map(all.map((component) => [component.purl, describe(component)]));
  for (const part of parts.values()) bom.components.add(part);
  for (const [name, digest] of programs) {
    const program = describeProgram(name, digest);
    bom.components.add(program);
    product.dependencies.add(program.bomRef);
    for (const { purl } of all.filter((component) => component.programs.includes(name)))
      depend(program, parts.get(purl));
  }
  for (const component of all) {
    for (const purl of component.uses) depend(parts.get(component.purl), parts.get(purl));
    if (component.programs.length === 0) depend(product, parts.get(component.purl));
  }
  bom.serialNumber = serialNumber(serialize(bom));
  return serialize(bom);
}

function describeProduct(): Models.Component {
  const purl = makePurl('npm', 'rdpipe', VERSION);
  const product = new Models.Component(ComponentType.Application, 'rdpipe', { version: VERSION, purl, bomRef: purl });
  product.licenses.add(LICENCES.makeFromString('Apache-2.0'));
  return product;
}

function describe({ name, version, purl, licence, website }: Component): Models.Component {
  const part = new Models.Component(ComponentType.Library, name, { version, purl, bomRef: purl });
  part.licenses.add(LICENCES.makeFromString(licence));
  part.externalReferences.add(new Models.ExternalReference(website, ExternalReferenceType.Website));
  return part;
}

function describeProgram(name: string, digest: string): Models.Component {
  const program = new Models.Component(ComponentType.File, name, { version: VERSION, bomRef: `file:${name}` });
  program.hashes.set(HashAlgorithm['SHA-256'], digest);
  return program;
}

function depend(user: Models.Component | undefined, used: Models.Component | undefined): void {
  if (user === undefined || used === undefined) throw new Error('a component of the bill of materials uses another');
  user.dependencies.add(used.bomRef);
}

function serialize(bom: Models.Bom): string {
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

/** Returns a UUID of version 8, whose bits are free to choose. */
function serialNumber(text: string): string {
  const hex = sha256(Buffer.from(text));
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
