import { type Arrivals, arrivalsOf } from './generate.ts';
import { type Change, PLAIN_CHANGE } from './workload.ts';

export interface ProjectOutcomes {
  readonly project: string;
  readonly medianSeconds: number;
  /** One character per build: 0 passed, 1 failed. */
  readonly outcomes: string;
}

export type ParsedOutcomes = { readonly projects: readonly ProjectOutcomes[] } | { readonly problem: string };

const COLUMNS = ['project', 'median_build_seconds', 'outcomes'] as const;

/** Lines after a header that names the columns, in any order. Names may be explained in parentheses. */
export function parseOutcomes(text: string): ParsedOutcomes {
  const [header = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (text.trim() === '') return { problem: 'it is empty' };
  const names = header.replace(/\([^)]*\)/g, '').split(',');
  const places = COLUMNS.map((name) => names.findIndex((given) => given.trim() === name));
  const missing = COLUMNS.filter((_, index) => places[index] === -1);
  if (missing.length > 0)
    return { problem: `its first line must name the columns ${COLUMNS.join(', ')}; it lacks ${missing.join(', ')}` };
  const projects: ProjectOutcomes[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line.split(','), places, names.length);
    if (parsed === undefined)
      return { problem: `line ${index + 2} must have a name, a number of seconds above 0, and a text of 0 and 1` };
    projects.push(parsed);
  }
  return projects.length === 0 ? { problem: 'it has a header and no projects' } : { projects };
}

function parseLine(cells: readonly string[], places: readonly number[], width: number): ProjectOutcomes | undefined {
  const [project = '', seconds = '', outcomes = ''] = places.map((place) => cells[place]?.trim() ?? '');
  const isWhole = cells.length === width && project !== '' && /^[01]+$/.test(outcomes);
  if (!isWhole || !/^\d{1,9}(?:\.\d+)?$/.test(seconds) || Number(seconds) === 0) return undefined;
  return { project, medianSeconds: Number(seconds), outcomes };
}

/** The file has no times, so builds arrive as the caller says. */
export function changesOf({ medianSeconds, outcomes }: ProjectOutcomes, arrivals: Arrivals): Change[] {
  const instants = arrivalsOf(arrivals);
  return [...outcomes].map((outcome, index) => ({
    ...PLAIN_CHANGE,
    number: index + 1,
    submittedAt: instants.next().value as number,
    durationMs: medianSeconds * 1000,
    isBroken: outcome === '1',
  }));
}

const BAND_STARTS = [0, 0.05, 0.1, 0.2, 0.4];

/** Projects are compared within bands of their failure rate: `10-20%`. */
export function bandOf({ outcomes }: ProjectOutcomes): string {
  const rate = outcomes.replaceAll('0', '').length / outcomes.length;
  const at = BAND_STARTS.findLastIndex((start) => rate >= start);
  const percent = (index: number) => Math.round((BAND_STARTS[index] ?? 1) * 100);
  return `${percent(at)}-${percent(at + 1)}%`;
}
