// SPDX-License-Identifier: Apache-2.0
// The packages for RHEL, Fedora, SUSE: an installed copy below /usr, with its dependencies.
import { join } from 'node:path';
import { execa } from 'execa';
import { type Release, readManifest } from './release.ts';
import { makeRpm } from './rpm.ts';
import { dynamicPrograms, installSystemTree } from './system-tree.ts';

/** Files and libraries, because packages of RHEL and SUSE have different names. */
const SSH = '/usr/bin/ssh';
const RECOMMENDED = ['rdma-core', 'libibverbs.so.1()(64bit)', 'librdmacm.so.1()(64bit)'];
/** Epoch of NodeSource's packages, which lack the capability `nodejs(engine)`. */
const NODESOURCE_EPOCH = 2;

/** Creates the package for machines with one CPU; it also has the programs for hosts with the others. */
export async function makeRpmPackage(release: Release, cpu: string): Promise<void> {
  const { dist, scratch, version, epoch } = release;
  const directory = join(scratch, `rpm-${cpu}`);
  await installSystemTree(release, directory);
  const requires = [nodeCapability(release), SSH, ...(await libraryCapabilities(directory, cpu))];
  makeRpm(directory, cpu, preamble(release, requires), join(dist, `rdpipe-${version}-1.${cpu}.rpm`), epoch);
}

/** The package `nodejs` of Fedora has an epoch, which is newer than any version without one. */
function nodeCapability(release: Release): string {
  const least = readManifest(release).engines.node.replace('>=', '');
  return `(nodejs(engine) >= ${least} or nodejs >= ${NODESOURCE_EPOCH}:${least})`;
}

/** Returns the libraries that the dynamic programs of this CPU need: `libssl.so.3()(64bit)`. */
async function libraryCapabilities(directory: string, cpu: string): Promise<string[]> {
  const input = dynamicPrograms(directory, cpu)
    .map((program) => `${program}\n`)
    .join('');
  const { stdout } = await execa('/usr/lib/rpm/elfdeps', ['--requires'], { input });
  return [...new Set(stdout.split('\n'))].sort();
}

function preamble(release: Release, requires: readonly string[]): string {
  const { author, description, license } = readManifest(release);
  return `Name: rdpipe
Version: ${release.version}
Release: 1
Summary: ${description}
License: ${license}
Packager: ${author}
AutoReqProv: no
${requires.map((capability) => `Requires: ${capability}`).join('\n')}
${RECOMMENDED.map((capability) => `Recommends: ${capability}`).join('\n')}

%description
rdpipe runs each command of a pipeline on its own host and connects the
commands with pipes straight from host to host, over RDMA or TCP.
rdcp copies files and directory trees in the same way. Only the machine on
which you run them needs the package: rdpipe copies its programs to the
other hosts over ssh.
`;
}
