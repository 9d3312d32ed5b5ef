/**
 * Tests in suites inside each other may share an id: the reference client makes ids of the outermost suite only. Which of
 * them a run was is told by its suite path. What a quarantine was made of covers its own paths and no other.
 */
import type { Instant } from '../../lib/clock.ts';
import type { ObservedRun, RunRef } from './run.ts';

/** A path, and since when it is known. */
export type KnownPath = readonly [path: string, since: Instant];

/** What is remembered of a test, as far as it is about paths. */
interface WithPaths {
  readonly paths?: readonly KnownPath[];
}

/** More are no longer told apart: those beyond are never covered. */
const MAX_PATHS = 16;

export function pathsOf({ paths }: WithPaths): readonly KnownPath[] {
  return paths ?? NO_PATHS;
}

const NO_PATHS: readonly KnownPath[] = [];

/** The same list where nothing is new. Runs from lists do not tell their path. */
export function notePaths(
  known: readonly KnownPath[] | undefined,
  runs: readonly ObservedRun[],
  at: Instant,
): readonly KnownPath[] | undefined {
  let paths = known;
  for (const { path } of runs) {
    if (path === undefined || path === null || paths?.some(([other]) => other === path)) continue;
    if ((paths?.length ?? 0) < MAX_PATHS) paths = [...(paths ?? []), [path, at]];
  }
  return paths;
}

/** The runs by path. Those that do not tell it are of the only one that others tell, else by themselves. */
export function groupByPath<Run extends { readonly path?: string | null }>(
  runs: readonly Run[],
): ReadonlyMap<string | null, readonly Run[]> {
  let only: string | null = null;
  for (const { path } of runs) {
    if (path === undefined || path === null || path === only) continue;
    if (only !== null) return Map.groupBy(runs, (run) => run.path ?? null);
    only = path;
  }
  return new Map([[only, runs]]);
}

/** The path of runs that are stored without one; null where the test has several. */
export function onlyPathOf(state: WithPaths): string | null {
  const [first, second] = pathsOf(state);
  return first === undefined || second !== undefined ? null : first[0];
}

/** Whether a run may count as evidence for a path: one that does not tell its own only where the test has no other. */
export function isOfPath(state: WithPaths, run: Pick<RunRef, 'path'>, path: string): boolean {
  if (run.path !== undefined && run.path !== null) return run.path === path;
  return pathsOf(state).every(([known]) => known === path);
}

/** Whether what a person decided at an instant was about this path too. */
export function wasKnown(state: WithPaths, path: string, at: Instant): boolean {
  return pathsOf(state).some(([known, since]) => known === path && since <= at);
}
