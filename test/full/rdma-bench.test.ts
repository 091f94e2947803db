// SPDX-License-Identifier: Apache-2.0
// `rdpipe bench` between hosts with RDMA, and the page that it writes.
import { join } from 'node:path';
import { expect } from 'chai';
import type { Benchmark, Sample } from '../../packages/rdpipe/src/model/benchmark.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { lookAt, needsBrowser } from '../support/browser.ts';
import { jsonObject } from '../support/json-output.ts';

const MIB = 1024 * 1024;
/** Time for twenty runs, among them ssh's, on a shared machine. */
const LONGEST_MS = 300_000;
/** Packets of the data, which is sent twice, at the network's payload per packet. */
const PACKETS = (2 * 4 * MIB) / 4096;
const METHODS = ['rdma', 'tcp', 'tcp encrypted', 'ssh'];

describe('rdpipe bench on virtual hosts', () => {
  const lab = useVirtualHosts({ longestMs: LONGEST_MS });

  it('measures RDMA and the other methods, for programs and on a page', async function () {
    const before = await lab.packets('h1');
    const words = '--connect-timeout 60 --rounds 1 --size 4M --json --report bench.html h1 h2';
    const { status, text, stderr } = await lab.sh(`rdpipe bench ${words}`);
    const after = await lab.packets('h1');
    expect({ status, stderr }, text).to.deep.equal({ status: 0, stderr: '' });
    const { methods, missing } = jsonObject<Benchmark>(text, 'bench');
    expect(missing).to.deep.equal([]);
    expect(methods.map(({ method }) => method)).to.deep.equal(METHODS);
    expect(methods[0]?.carrier).to.match(/^rdma rxe0 \(RoCE v2, 2\.5 Gb\/s\), authenticated/);
    for (const { samples } of methods) samples.forEach(expectWhole);
    expect(methods.map(({ samples }) => samples.length)).to.deep.equal([1, 1, 1, 1]);
    expect(after.sent - before.sent).to.be.greaterThan(PACKETS);
    needsBrowser(this);
    await expectPage(join(lab.directory, 'bench.html'));
  });

  function expectWhole({ bytes, ...figures }: Sample): void {
    expect(bytes).to.equal(4 * MIB);
    for (const [name, figure] of Object.entries(figures)) expect(figure, name).to.be.greaterThan(0);
  }

  /** Expects each method with its rate three times, its CPU time at each end and its latency; and the plots. */
  async function expectPage(file: string): Promise<void> {
    const { dom, complaints } = await lookAt(file);
    expect(complaints).to.deep.equal([]);
    expect(dom.match(/<svg /g)).to.have.length(3);
    const rows = [...dom.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row = '']) => row.split(/<[^<]*>+/));
    const figures = rows.map((texts) => texts.filter((text) => text !== ''));
    expect(figures.map(([method]) => method)).to.deep.equal(METHODS);
    for (const [method, ...cells] of figures) {
      expect(cells.slice(0, 3).join(), method).to.match(/^([\d.]+ [KMG]iB\/s,?){3}$/);
      expect(cells.slice(3, 5).join(), method).to.match(/^\d+\.\d\d,\d+\.\d\d$/);
      expect(cells[5], method).to.match(method === 'ssh' ? /^[\d.]+ (ms|s) \(login\)$/ : /^[\d.]+ (µs|ms)$/);
    }
  }
});
