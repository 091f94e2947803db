// SPDX-License-Identifier: Apache-2.0
// Samples the memory and descriptors of a run's processes.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { MarkedProcess } from './processes.ts';

export interface Footprint {
  readonly rssKib: number;
  readonly descriptors: number;
}

export interface Growth {
  /** The program and its pid. */
  readonly name: string;
  readonly samples: number;
  /** The maxima of the first half of its life, not counting its first tenth. */
  readonly before: Footprint;
  /** Of the second half: the maximum memory and the minimum descriptors, because it may open some briefly. */
  readonly after: Footprint;
}

const SAMPLES_MIN = 20;

export class FootprintLog {
  readonly #of = new Map<string, Footprint[]>();

  /** Takes a sample of each process that still runs. Returns true if each of them has enough samples now. */
  look(processes: readonly MarkedProcess[]): boolean {
    for (const one of processes) {
      const footprint = footprintOf(one.pid);
      if (footprint !== undefined) this.#samplesOf(nameOf(one)).push(footprint);
    }
    return processes.length > 0 && processes.every((one) => this.#samplesOf(nameOf(one)).length >= SAMPLES_MIN);
  }

  #samplesOf(name: string): Footprint[] {
    const samples = this.#of.get(name) ?? [];
    this.#of.set(name, samples);
    return samples;
  }

  /** The growth of each process that has enough samples. */
  growths(): Growth[] {
    return [...this.#of]
      .filter(([, { length }]) => length >= SAMPLES_MIN)
      .map(([name, samples]) => growth(name, samples));
  }
}

/** Expects that every process stayed below `mostKib`, grew by at most `slackKib`, and opened no more descriptors. */
export function expectFlat(growths: readonly Growth[], mostKib: number, slackKib: number): void {
  expect(growths).not.to.deep.equal([]);
  for (const { name, before, after } of growths) {
    const words = `${name}: ${before.rssKib} KiB, then ${after.rssKib} KiB`;
    expect(Math.max(before.rssKib, after.rssKib), words).to.be.lessThan(mostKib);
    expect(after.rssKib - before.rssKib, words).to.be.at.most(slackKib);
    expect(after.descriptors, `descriptors of ${name}`).to.be.at.most(before.descriptors);
  }
}

function nameOf({ pid, program }: MarkedProcess): string {
  return `${program} ${pid}`;
}

function growth(name: string, samples: readonly Footprint[]): Growth {
  const settled = samples.slice(Math.ceil(samples.length / 10));
  const half = Math.ceil(settled.length / 2);
  const [first, second] = [settled.slice(0, half), settled.slice(half)];
  return {
    name,
    samples: samples.length,
    before: { rssKib: Math.max(...rssOf(first)), descriptors: Math.max(...descriptorsOf(first)) },
    after: { rssKib: Math.max(...rssOf(second)), descriptors: Math.min(...descriptorsOf(second)) },
  };
}

function rssOf(samples: readonly Footprint[]): number[] {
  return samples.map(({ rssKib }) => rssKib);
}

function descriptorsOf(samples: readonly Footprint[]): number[] {
  return samples.map(({ descriptors }) => descriptors);
}

function footprintOf(pid: number): Footprint | undefined {
  try {
    const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return Number.isNaN(rssKib) ? undefined : { rssKib, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}
