/**
 * Tests in nested suites may share an id, because the reference client makes ids of the outermost suite only. The suite
 * path of a run tells them apart. A quarantine covers the paths that it was based on and no other.
 */
import type { Instant } from '../../lib/clock.ts';
import type { ObservedRun, RunRef } from './run.ts';

/** A path, and when it was first seen. */
export type KnownPath = readonly [path: string, since: Instant];

interface WithPaths {
  readonly paths?: readonly KnownPath[];
}

/** Paths beyond the limit are not told apart and never covered by a quarantine. */
// SPEC F81
const MAX_PATHS = 50;

export function pathsOf({ paths }: WithPaths): readonly KnownPath[] {
  return paths ?? NO_PATHS;
}

const NO_PATHS: readonly KnownPath[] = [];

/** Returns the same list if no path is new. Runs from lists have no path. */
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

/**
 * Groups the runs by path. Runs without a path join the only path that other runs have, else form a group of their own.
 */
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

/** The path of runs that are stored without one; null if the test has several. */
export function onlyPathOf(state: WithPaths): string | null {
  const [first, second] = pathsOf(state);
  return first === undefined || second !== undefined ? null : first[0];
}

/**
 * Tells whether a run may count as evidence for a path. A run without a path counts only if the test has no other path.
 */
export function isOfPath(state: WithPaths, run: Pick<RunRef, 'path'>, path: string): boolean {
  if (run.path !== undefined && run.path !== null) return run.path === path;
  return pathsOf(state).every(([known]) => known === path);
}

/** The paths that a person could know of at this instant. */
export function pathsKnownAt(state: WithPaths, at: Instant): readonly string[] {
  return pathsOf(state).flatMap(([path, since]) => (since <= at ? [path] : []));
}

/**
 * A suite as people read and name it: the outermost suite of the test, then the path. The outermost one is the same in
 * all suites of a test, so that cutting it leaves their names different.
 */
export function suiteNameOf(parent: string | null, path: string): string {
  return [parent?.slice(0, 200).toWellFormed(), path].filter(Boolean).join(' > ') || '(no suite)';
}

const MAX_NAMED = 3;

/** ` in s > a, s > b`; a longer list ends in the number of the others. Empty if there are none. */
export function inSuites(names: readonly string[] = []): string {
  if (names.length === 0) return '';
  const more = names.length - MAX_NAMED;
  const shown = names.slice(0, MAX_NAMED).map((name) => name.slice(0, 200).toWellFormed());
  return ` in ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
