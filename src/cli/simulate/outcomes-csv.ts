import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Arrivals, arrivalsOf } from '../../policy/generate.ts';
import { type Change, PLAIN_CHANGE } from '../../policy/workload.ts';
import { UsageError } from './options.ts';

/** The builds of one project, in order. */
export interface ProjectOutcomes {
  readonly project: string;
  readonly medianSeconds: number;
  /** One character per build: 0 passed, 1 failed. */
  readonly outcomes: string;
}

/** Lines of `project,median_build_seconds,outcomes` after a header, plain or gzipped. */
export async function readOutcomes(file: string): Promise<ProjectOutcomes[]> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message}).`);
  });
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = (isGzip ? await promisify(gunzip)(bytes) : bytes).toString('utf8');
  const [header = '', ...lines] = text.split(/\r?\n/);
  if (!header.startsWith('project,median_build_seconds,outcomes')) {
    throw new UsageError(`${file} must begin with a header "project,median_build_seconds,outcomes".`);
  }
  return lines.flatMap((line, index) => (line === '' ? [] : [parseLine(line, `${file}, line ${index + 2}`)]));
}

function parseLine(line: string, place: string): ProjectOutcomes {
  const match = /^([^,]+),(\d+(?:\.\d+)?),([01]+)$/.exec(line);
  if (match === null) throw new UsageError(`${place}: expected a name, a number of seconds, and a text of 0 and 1.`);
  const [, project = '', seconds, outcomes = ''] = match;
  return { project, medianSeconds: Number(seconds), outcomes };
}

/** The file has no times, so builds arrive as the options say. */
export function changesOf({ medianSeconds, outcomes }: ProjectOutcomes, arrivals: Arrivals, limit: number): Change[] {
  const instants = arrivalsOf(arrivals);
  return [...outcomes.slice(0, limit)].map((outcome, index) => ({
    ...PLAIN_CHANGE,
    number: index + 1,
    submittedAt: instants.next().value as number,
    durationMs: medianSeconds * 1000,
    isBroken: outcome === '1',
  }));
}
