// SPDX-License-Identifier: Apache-2.0
import { type CompressedCases, compressedCases } from './cases-compressed.ts';
import { type CopyCases, copyCases } from './cases-copy.ts';
import { type FanOutCases, fanOutCases } from './cases-fan-out.ts';
import { type FanOutToolCases, fanOutToolCases } from './cases-fan-out-tools.ts';
import { type FileCases, fileCases } from './cases-file.ts';
import { type ForwardCases, forwardCases } from './cases-forward.ts';
import { type LinksCases, linksCases } from './cases-links.ts';
import { type NullCases, nullCases } from './cases-null.ts';
import { type PipeCases, pipeCases } from './cases-pipe.ts';
import { type RdsshCases, rdsshCases } from './cases-rdssh.ts';
import { type SmallCases, smallCases } from './cases-small.ts';
import { loginsOf, STAGES_MAX, type StartCases, startCases } from './cases-start.ts';
import { type StreamsCases, streamsCases } from './cases-streams.ts';
import { type WindowCases, windowCases } from './cases-window.ts';
import type { Setup } from './setup.ts';

/** All cases on loopback; tables and plots show parts of them. */
export interface LoopbackCases {
  readonly pipe: PipeCases;
  readonly toNull: NullCases;
  readonly file: FileCases;
  readonly compressed: CompressedCases;
  readonly small: SmallCases;
  readonly start: StartCases;
  readonly window: WindowCases;
  readonly streams: StreamsCases;
  readonly links: LinksCases;
  readonly copy: CopyCases;
  readonly forward: ForwardCases;
  readonly rdssh: RdsshCases;
  readonly fanOut: FanOutCases;
  readonly fanOutTools: FanOutToolCases;
}

export function loopbackCases(setup: Setup): LoopbackCases {
  const start = startCases(setup);
  return {
    pipe: pipeCases(setup),
    toNull: nullCases(setup),
    file: fileCases(setup),
    compressed: compressedCases(setup),
    small: smallCases(setup),
    start,
    window: windowCases(setup),
    streams: streamsCases(setup),
    links: linksCases(setup),
    copy: copyCases(setup),
    forward: forwardCases(setup),
    rdssh: rdsshCases(setup),
    fanOut: fanOutCases(setup, loginsOf(start, STAGES_MAX)),
    fanOutTools: fanOutToolCases(setup),
  };
}
