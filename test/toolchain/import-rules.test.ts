// SPDX-License-Identifier: Apache-2.0
// The import rules: directories of TypeScript and C, libraries, import cycles.
import { expect } from 'chai';
import { checkImports } from '../../scripts/check-imports.ts';

/** A file below packages/rdpipe/src and a module that it imports. */
type Import = readonly [file: string, from: string];

const FORBIDDEN: readonly Import[] = [
  ['model/pipeline.ts', '../plan/plan.ts'],
  ['model/pipeline.ts', 'node:fs'],
  ['parse/stage.ts', '../config/file.ts'],
  ['config/file.ts', '../session/open.ts'],
  ['plan/plan.ts', '../session/openssh.ts'],
  ['session/openssh.ts', '../agent/deploy.ts'],
  ['agent/deploy.ts', '../run/run.ts'],
  ['run/run.ts', '../ui/live.ts'],
  ['run/run.ts', '../cli/rdpipe.ts'],
  ['ui/live.ts', '../run/run.ts'],
  ['doctor/examine.ts', '../ui/doctor.ts'],
  ['run/run.ts', '../doctor/examine.ts'],
  ['run/run.ts', '../bench/bench.ts'],
  ['bench/bench.ts', '../ui/chart.ts'],
  ['doctor/examine.ts', '../bench/bench.ts'],
  ['ui/doctor.ts', '../doctor/probe.ts'],
  ['parse/hosts.ts', '../doctor/subjects.ts'],
  ['cli/rdpipe.ts', 'ssh2'],
  ['session/start-program.ts', 'node:child_process'],
  ['cli/demo.ts', 'node:child_process'],
  ['run/run.ts', 'chalk'],
  ['cli/rdpipe.ts', 'ora'],
  ['run/report.ts', 'echarts/core'],
  ['parse/stage.ts', 'commander'],
  ['run/run.ts', 'execa'],
  ['session/child-channel.ts', 'execa'],
  ['ui/html.ts', 'echarts/charts'],
  ['plan/plan.ts', 'valibot'],
  ['session/ssh2.ts', 'a-new-library'],
  ['cli/rdpipe.ts', '../../../rdbase-native/src/wire.ts'],
];

const ALLOWED: readonly Import[] = [
  ['model/plan.ts', './pipeline.ts'],
  ['parse/argv.ts', 'commander'],
  ['config/file.ts', '../parse/values.ts'],
  ['plan/route.ts', '../model/plan.ts'],
  ['session/ssh2.ts', 'ssh2'],
  ['agent/deploy.ts', '../session/host-session.ts'],
  ['run/run.ts', '../agent/agent.ts'],
  ['doctor/examine.ts', '../run/run.ts'],
  ['bench/bench.ts', '../run/run.ts'],
  ['doctor/pair-checks.ts', '../plan/addresses.ts'],
  ['ui/live.ts', 'ora'],
  ['cli/rdpipe.ts', '../run/run.ts'],
  ['cli/doctor.ts', '../doctor/examine.ts'],
  ['session/start-program.ts', 'execa'],
  ['session/openssh/master.ts', '../../model/plan.ts'],
  ['ui/pages/chart.ts', 'echarts/core'],
];

/** A C file, a header that it includes, and the other existing files. */
type Include = readonly [file: string, include: string, ...others: string[]];

const FORBIDDEN_INCLUDES: readonly Include[] = [
  ['rdendpoint-native/src/crypto/seal.c', '<xxhash.h>'],
  ['rdendpoint-native/src/wire/wire.h', '<openssl/evp.h>'],
  ['rdendpoint-native/src/conn/connection.c', '<rdma/rdma_cma.h>'],
  ['rdstage-native/src/host/rdma_ports.c', '<infiniband/verbs.h>'],
  ['rdendpoint-native/src/conn/seal/tx.c', '<openssl/evp.h>'],
  ['rdbase-native/src/base/io.c', '"wire.h"', 'rdendpoint-native/src/wire/wire.h'],
  ['rdbase-native/src/base/io.c', '"wire/wire.h"', 'rdendpoint-native/src/wire/wire.h'],
  ['rdendpoint-native/src/wire/wire.c', '"../crypto/seal.h"', 'rdendpoint-native/src/crypto/seal.h'],
  ['rdendpoint-native/src/transport/tcp/connect.c', '"verbs_id.h"', 'rdendpoint-native/src/transport/verbs/verbs_id.h'],
  ['rdbase-native/src/base/text.c', '"stage.h"', 'rdstage-native/src/run/stage.h'],
  ['rdbase-native/src/base/text.c', '"none.h"'],
  ['rdsend-native/src/send_loop.c', '"recv_loop.h"', 'rdrecv-native/src/recv_loop.h'],
  ['rdtree-native/src/main.c', '"wire/wire.h"', 'rdendpoint-native/src/wire/wire.h'],
  ['rdendpoint-native/src/hop/loop.c', '"source/source.h"', 'rdsend-native/src/source/source.h'],
];

const ALLOWED_INCLUDES: readonly Include[] = [
  ['rdendpoint-native/src/crypto/seal.c', '<openssl/evp.h>'],
  ['rdendpoint-native/src/transport/verbs/transport.c', '<rdma/rdma_cma.h>'],
  ['rdendpoint-native/src/transport/verbs/queue.h', '<infiniband/verbs.h>'],
  ['rdbase-native/src/base/text.c', '<pthread.h>'],
  ['rdbase-native/src/base/text.c', '"base/text.h"', 'rdbase-native/src/base/text.h'],
  ['rdsend-native/src/send_loop.c', '"wire/wire.h"', 'rdendpoint-native/src/wire/wire.h'],
  ['rdstage-native/src/run/stage.c', '"base/error.h"', 'rdbase-native/src/base/error.h'],
  ['rdendpoint-native/src/wire/wire.c', '"base/error.h"', 'rdbase-native/src/base/error.h'],
  ['rdbase-native/src/base/io.c', '"base/error.h"', 'rdbase-native/src/base/error.h'],
  [
    'rdendpoint-native/src/transport/tcp/connect.c',
    '"transport/transport.h"',
    'rdendpoint-native/src/transport/transport.h',
  ],
];

const TYPE_CIRCLE = {
  'packages/rdpipe/src/plan/a.ts': "import type { B } from './b.ts';",
  'packages/rdpipe/src/plan/b.ts': "export const c = async () => await import('./c.ts');",
  'packages/rdpipe/src/plan/c.ts': "export * from './a.ts'; // and not './d.ts'",
  'packages/rdpipe/src/plan/d.ts': "import './a.ts';",
};

const UNIT_CIRCLE = {
  'packages/rdstage-native/src/a.h': '#include "b.h"',
  'packages/rdstage-native/src/a.c': '',
  'packages/rdstage-native/src/b.h': '',
  'packages/rdstage-native/src/b.c': '#include "b.h"\n#include "a.h"',
};

describe('the import rules', () => {
  for (const [file, from] of FORBIDDEN) {
    it(`forbid ${file} to import ${from}`, () => expect(ofImport(file, from)).to.have.length(1));
  }
  for (const [file, from] of ALLOWED) {
    it(`let ${file} import ${from}`, () => expect(ofImport(file, from)).to.deep.equal([]));
  }
  for (const [file, include, ...others] of FORBIDDEN_INCLUDES) {
    it(`forbid ${file} to include ${include}`, () => expect(ofInclude(file, include, others)).to.have.length(1));
  }
  for (const [file, include, ...others] of ALLOWED_INCLUDES) {
    it(`let ${file} include ${include}`, () => expect(ofInclude(file, include, others)).to.deep.equal([]));
  }

  it('name the file, and what its directory may import', () => {
    expect(ofImport('config/file.ts', '../session/open.ts')).to.deep.equal([
      'packages/rdpipe/src/config/file.ts imports ../session/open.ts: config may import parse model',
    ]);
  });

  it('know every directory', () => {
    const row = 'no row in DIRECTORIES of scripts/check-imports.ts';
    expect(ofImport('new/a.ts', '../model/plan.ts')).to.deep.equal([`rdpipe/new: ${row}`]);
    expect(ofImport('a.ts', './model/plan.ts')).to.deep.equal([`rdpipe: ${row}`]);
    expect(ofInclude('rdbase-native/src/new/a.c', '<errno.h>', [])).to.deep.equal([`rdbase-native/new: ${row}`]);
  });

  it('find cycles of imports, also of types, and of includes', () => {
    expect(checkImports(new Map(Object.entries(TYPE_CIRCLE)))).to.deep.equal([
      'imports go in a circle: rdpipe/plan/a → rdpipe/plan/b → rdpipe/plan/c → rdpipe/plan/a',
    ]);
    expect(checkImports(new Map(Object.entries(UNIT_CIRCLE)))).to.deep.equal([
      'imports go in a circle: rdstage-native/a → rdstage-native/b → rdstage-native/a',
    ]);
  });
});

function ofImport(file: string, from: string): string[] {
  const text = `import { anything } from '${from}';\nexport const used = anything;\n`;
  return checkImports(new Map([[`packages/rdpipe/src/${file}`, text]]));
}

function ofInclude(file: string, include: string, others: readonly string[]): string[] {
  const files = [[file, `#include ${include}\n`] as const, ...others.map((other) => [other, ''] as const)];
  return checkImports(new Map(files.map(([path, text]) => [`packages/${path}`, text])));
}
