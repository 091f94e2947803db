/** Shows an examination: findings on standard output as they arrive, or JSON at the end. */
import type { Examination, Found } from '../../model/examination.ts';
import { jsonText } from '../../model/text.ts';
import { UNLIMITED } from '../columns.ts';
import { createColors } from './colors.ts';
import { hostLines, pairLines, verdictLine } from './doctor-lines.ts';
import { createJsonStatusView, createStatusView, type Output, type StatusSettings, type StatusView } from './status.ts';
import type { Terminal } from './terminal.ts';

export interface DoctorView extends StatusView {
  /** Never throws. */
  readonly found: (found: Found) => void;
  finished(examination: Examination): void;
}

/** The view for people, or that for --json. `protectPayload` must have run before. */
export async function createDoctorView(
  settings: StatusSettings,
  terminal: Terminal,
  output: Output,
): Promise<DoctorView> {
  if (settings.json) return createJsonDoctorView(output);
  const { quiet } = settings;
  const { view, display } = await createStatusView(settings, terminal);
  const colors = await createColors(output.color);
  return {
    ...view,
    found(found) {
      const style = { quiet, colors, columns: output.columns?.() ?? UNLIMITED };
      const lines = found.kind === 'host' ? hostLines(found.host, style) : pairLines(found.pair, style);
      display.pause();
      output.write(lines.map((line) => `${line}\n`).join(''));
      display.resume();
    },
    finished(examination) {
      display.stop();
      if (!quiet) output.write(`${verdictLine(examination)}\n`);
    },
  };
}

/** Writes one JSON object at the end. */
export function createJsonDoctorView(output: Output): DoctorView {
  return {
    ...createJsonStatusView(output, { hosts: [], pairs: [] }),
    found: () => {},
    finished: (examination) => output.write(`${jsonText(examination)}\n`),
  };
}
