// SPDX-License-Identifier: Apache-2.0
// GitHub workflows are valid for GitHub's parser, have few permissions, and use existing files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ROOT } from '../support/root.ts';

const DIRECTORY = join(ROOT, '.github/workflows');
const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
/** Permissions that a job may have; any other needs a decision. */
const RIGHTS = ['attestations: write', 'contents: read', 'contents: write', 'id-token: write'];

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly 'runs-on': string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly (string | number)[]>> };
  readonly container?: string | { readonly image: string };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

describe('the workflows', () => {
  it('are one for each change and one for a tag', () => {
    expect(readdirSync(DIRECTORY).sort()).to.deep.equal(['ci.yml', 'release.yml']);
  });

  for (const name of readdirSync(DIRECTORY)) describe(name, () => checks(name));

  it('run .ci/run for each change, and before a release', () => {
    for (const name of ['ci.yml', 'release.yml']) expect(lines(read(name)), name).to.include('.ci/run');
  });

  it('run it on each system that README names, with each maintained version of node', () => {
    const { jobs } = read('ci.yml');
    const runs = Object.values(jobs).filter((job) => job.steps.some(({ run = '' }) => run.endsWith('.ci/run')));
    expect(runs.flatMap(systemsOf).sort()).to.deep.equal(['debian:12', 'debian:13', 'ubuntu-24.04']);
    for (const { strategy, steps } of runs) {
      expect(strategy?.matrix.node).to.deep.equal([20, 22, 24]);
      const node = steps.find(({ uses = '' }) => uses.startsWith('actions/setup-node@'));
      expect(node?.with).to.deep.equal({ 'node-version': '${{ matrix.node }}' });
    }
  });

  it('attach the output of npm run dist to a tag, and only if the tag is the version', () => {
    const { build, draft } = read('release.yml').jobs;
    const commands = build?.steps.map(({ run = '' }) => run) ?? [];
    const check = commands.findIndex((run) => run.includes('GITHUB_REF_NAME') && run.includes('exit 1'));
    expect(check).to.be.within(0, commands.indexOf('npm run dist'));
    expect(draft?.steps.at(-1)?.run).to.match(/^gh release create "\$GITHUB_REF_NAME" .* dist\/\*$/);
  });
});

function checks(name: string): void {
  const content = readFileSync(join(DIRECTORY, name), 'utf8');
  const workflow = read(name);
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, job]) => job.steps);

  it("is understood by GitHub's parser", async () => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    expect(context.errors.getErrors().map(({ message }) => message)).to.deep.equal([]);
    if (value === undefined) throw new Error(`${name} is empty`);
    expect((await convertWorkflowTemplate(context, value)).errors ?? []).to.deep.equal([]);
  });

  it('never runs code of outside contributors with privileges', () => {
    expect(Object.keys(workflow.on)).not.to.include.oneOf(['pull_request_target', 'workflow_run', 'issue_comment']);
    for (const line of lines(workflow)) expect(line).not.to.match(/\$\{\{/);
  });

  it('names the rights of each job, and few', () => {
    expect(workflow.permissions).to.be.an('object');
    for (const [job, { permissions }] of jobs) {
      const rights = Object.entries({ ...workflow.permissions, ...permissions }).map((right) => right.join(': '));
      expect(RIGHTS, job).to.include.members(rights);
    }
    for (const [job, { permissions, steps: own }] of jobs)
      if (Object.values(permissions ?? {}).includes('write'))
        expect(own.map(({ uses = '' }) => uses).join(' '), job).not.to.contain('checkout');
  });

  it('pins actions by their commit, and notes their version', () => {
    const used = [...content.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(used).to.have.length(steps.filter(({ uses }) => uses !== undefined).length);
    for (const action of used) expect(action).to.match(/^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    for (const { uses = '', with: settings } of steps)
      if (uses.includes('checkout')) expect(settings).to.include({ 'persist-credentials': false });
  });

  it('limits the time of each job', () => {
    for (const [job, { 'timeout-minutes': minutes }] of jobs) expect(minutes, job).to.be.a('number');
  });

  it('runs scripts and files that exist', () => {
    const words = lines(workflow).join('\n');
    const scripts = [...words.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script);
    expect(Object.keys(SCRIPTS)).to.include.members(scripts);
    const files = [...words.matchAll(/(?<![\w$/])(?:\.ci|scripts|packages|test)\/[\w./-]+/g)].map(([file]) => file);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([]);
  });
}

/** The images of a job's container, or its runner. */
function systemsOf({ container, strategy, 'runs-on': runner }: Job): string[] {
  const image = typeof container === 'object' ? container.image : (container ?? runner);
  const [, key] = /\$\{\{ matrix\.(\w+) \}\}/.exec(image) ?? [];
  if (key === undefined) return [image];
  return (strategy?.matrix[key] ?? []).map((value) => image.replace(/\$\{\{.*\}\}/, String(value)));
}

function read(name: string): Workflow {
  return parse(readFileSync(join(DIRECTORY, name), 'utf8'));
}

function lines({ jobs }: Workflow): string[] {
  return Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run.split('\n')));
}
