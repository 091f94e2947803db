/** docs/json.schema.json: it is a schema, and it has the kinds and the values that the code has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { checked, JSON_SCHEMA, type JsonOutput, jsonLines } from '../../../../../test/support/json-output.ts';
import { ROOT } from '../../../../../test/support/root.ts';
import { CIPHERS } from '../../../src/model/cipher.ts';
import type { RunEvent, RunEventKind } from '../../../src/model/events.ts';
import type { NativeCode } from '../../../src/model/protocol.ts';
import { TreeEventSchema, type TreeRole } from '../../../src/model/tree.ts';
import { createJsonRenderer } from '../../../src/ui/terminal/json.ts';
import { counters, createPage, planFor, report, tree, treeProgress } from '../helpers.ts';

/** Here and in the next two, a name that is missing does not compile. */
const EVENTS: Readonly<Record<RunEventKind, RunEvent>> = {
  connecting: { kind: 'connecting', hosts: ['h1'] },
  host_connected: { kind: 'host_connected', host: 'h1', lacks: ['no seccomp'] },
  deploying: { kind: 'deploying', host: 'h1', bytes: 1, copied: 0 },
  prompting: { kind: 'prompting', host: 'h1', active: true },
  planned: { kind: 'planned', plan: planFor(['h1:< in', 'h2:cat', 'h2:> out']) },
  segment_started: { kind: 'segment_started', segment: 1 },
  hop_connected: { kind: 'hop_connected', link: 1, transport: 'tcp', cipher: 'none', way: '10.0.0.2:1, --data' },
  hop_broken: { kind: 'hop_broken', link: 1, end: 'send', host: 'h1', message: 'reset' },
  hop_resumed: { kind: 'hop_resumed', link: 1, end: 'recv', host: 'h2', bytes: 1 },
  size: { kind: 'size', link: 1, bytes: 1 },
  counters: counters({ bytes: 1, wireBytes: 1 }),
  output: { kind: 'output', link: 3 },
  stderr: { kind: 'stderr', stage: 1, host: 'h1', data: Buffer.from('x') },
  tree: tree('write', treeProgress()),
  stage_started: { kind: 'stage_started', stage: 2, host: 'h2', pid: 1 },
  stage_exited: {
    kind: 'stage_exited',
    stage: 2,
    host: 'h2',
    code: null,
    signal: 9,
    stopped: true,
    consumerClosed: false,
  },
  host_lost: { kind: 'host_lost', host: 'h1', message: 'lost' },
  host_slow: { kind: 'host_slow', host: 'h1', message: 'slow' },
  stopping: { kind: 'stopping', reason: 'failed' },
  suspended: { kind: 'suspended' },
  resumed: { kind: 'resumed' },
  login_text: { kind: 'login_text', host: 'h1', log: 'l', banner: 'b' },
  log: { kind: 'log', message: 'm' },
  warning: { kind: 'warning', message: 'm' },
  finished: { kind: 'finished', report: report() },
};

const CODES: Readonly<Record<NativeCode, true>> = {
  ok: true,
  usage: true,
  cannot_connect: true,
  key_refused: true,
  peer_lost: true,
  peer_stalled: true,
  source_unreadable: true,
  sink_unwritable: true,
  data_damaged: true,
  aborted: true,
  closed: true,
  internal: true,
};

const ROLES: Readonly<Record<TreeRole, true>> = {
  scan: true,
  compare: true,
  unite: true,
  read: true,
  write: true,
  copy: true,
  clean: true,
};

/** Only an agent's programs have these events. */
const OF_AGENTS = ['parted', 'output'];
/** Events of rdtree that rdsend and rdrecv show: it reports no path that was changed. */
const OF_RDTREE = ['progress', 'failed', 'warning', 'slowest', 'fatal'];

interface Definition {
  readonly oneOf?: readonly { readonly $ref: string }[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly enum?: readonly string[];
}

const DEFINITIONS = JSON_SCHEMA.$defs as Readonly<Record<string, Definition>>;
const TREE_EVENTS = TreeEventSchema.options.map(({ entries }) => ({ name: entries.event.literal, entries }));

describe('the schema of JSON output', () => {
  // Strict: a keyword that is unknown, or a definition that is missing, is an error.
  const ajv = new Ajv2020({ strict: true, inlineRefs: false });

  it('is for readers, who ignore fields of later versions, but complete in tests', () => {
    const isValid = ajv.compile(JSON_SCHEMA);
    const object = { v: 1, kind: 'log', message: 'm', later: 1 };
    expect(isValid(object)).to.equal(true);
    expect(isValid({ ...object, v: 2 })).to.equal(false);
    expect(() => checked(object, 'run')).to.throw(/"additionalProperty":"later"/);
    expect(() => checked({ v: 1, kind: 'later' }, 'run')).to.throw(/does not describe/);
  });

  it('has the kinds of a run', () => {
    const { tree: _, finished: __, ...others } = EVENTS;
    const trees = TREE_EVENTS.map(({ name }) => `tree.${name}`);
    expect(namesOf('run')).to.have.members([...Object.keys(others), ...trees, 'report']);
    const page = createPage();
    const { handle } = createJsonRenderer(page.write);
    for (const event of Object.values(EVENTS)) handle(event);
    expect(jsonLines(page.text, 'run')).to.have.length(Object.keys(EVENTS).length);
  });

  it('has the events of rdsend and rdrecv', () => {
    const printed = eventsIn('rdendpoint-native/src/agent/event_json.c');
    const own = printed.filter((name) => !OF_AGENTS.includes(name));
    expect(namesOf('stream')).to.have.members([...own, ...OF_RDTREE]);
  });

  it('has the events of a server', () =>
    expect(namesOf('server')).to.have.members(eventsIn('rdserve-native/src/serve/report.c')));

  it('has the events of rdtree, with their fields', () => {
    expect(eventsIn('rdtree-native/src/report/events.c')).to.have.members(TREE_EVENTS.map(({ name }) => name));
    for (const { name, entries } of TREE_EVENTS) {
      const around = ['v', 'kind', 'stage', 'rank', 'host', 'role'];
      expect(fieldsOf(`run.tree.${name}`), name).to.have.members([...around, ...Object.keys(entries)]);
      if (OF_RDTREE.includes(name)) expect(fieldsOf(`stream.${name}`), name).to.have.members(Object.keys(entries));
    }
  });

  it('has the ciphers, codes and roles', () => {
    expect(DEFINITIONS.cipher?.enum).to.have.members(CIPHERS);
    expect(DEFINITIONS.code?.enum).to.have.members(Object.keys(CODES));
    expect(DEFINITIONS.role?.enum).to.have.members(Object.keys(ROLES));
  });
});

/** Of the definitions that one is made of, without its name: `tree.path`. */
function namesOf(output: JsonOutput): string[] {
  const references = DEFINITIONS[output]?.oneOf?.map(({ $ref }) => $ref) ?? [];
  const all = Object.keys(DEFINITIONS).filter((name) => name.startsWith(`${output}.`));
  expect(references).to.have.members(all.map((name) => `#/$defs/${name}`));
  return all.map((name) => name.slice(output.length + 1));
}

function fieldsOf(definition: string): string[] {
  return Object.keys(DEFINITIONS[definition]?.properties ?? {});
}

/** The names of events that a C file makes, once each. */
function eventsIn(file: string): string[] {
  const source = readFileSync(join(ROOT, 'packages', file), 'utf8');
  return [...new Set([...source.matchAll(/"event",\s*"(\w+)"/g)].map(([, name = '']) => name))];
}
