/**
 * Pass on retry: the rules for "the same test failed and passed on the same code".
 *
 * Runs are compared within one commit or tree, job and variant (a variant is another test). A failure in one upload and
 * only passes in another are certain: of one commit at any time, of two commits of a tree within a day. Of two commits
 * they are withdrawn when another part of the run that passed arrives and has failed. Within one upload, a case with
 * failing `flakyFailure` children that ended well is certain too. A case that only occurs several times may be several parametrised tests of one name, one of which fails.
 * There the passing occurrence must carry a later attempt number or a later timestamp than the failing one. Even then
 * it is no retry once the test was seen to pass with just as many occurrences. Such evidence is kept with its number of
 * occurrences, so that a passing commit that arrives later can withdraw it. Runs of different suite paths are different
 * tests and are never compared.
 */
import type { Instant } from '../../lib/clock.ts';
import { groupByPath } from './paths.ts';
import {
  compareRefs,
  type EarlierOutcome,
  isSameRun,
  type ObservedRun,
  type OutcomeRef,
  type RunRef,
  refOf,
  type TestedTree,
  type UploadFacts,
} from './run.ts';

export interface RetryEvent extends RunRef {
  readonly failedAt: Instant;
  readonly passedAt: Instant;
  /** 0: certain. Otherwise how often the case occurred in the upload. */
  readonly multiplicity: number;
  /** The report itself counts attempts. */
  readonly isMarked: boolean;
  /** The upload with the other of the two runs; null: both are in this one. */
  readonly otherUploadId: string | null;
}

/** Newest first. The order is total, so that it does not depend on the order of arrival. */
export function compareRetries(one: RetryEvent, other: RetryEvent): number {
  return compareRefs(one, other) || other.failedAt - one.failedAt || other.passedAt - one.passedAt;
}

/** Two commits of one tree may have been tested in different surroundings if more time lies between. */
export const SAME_TREE_MS = 24 * 3_600_000;

/** A case repeated more often comes from a case generator, and is never evidence. */
export const MAX_MULTIPLICITY = 32;

export function findRetries(
  upload: UploadFacts,
  runs: readonly ObservedRun[],
  earlier: readonly EarlierOutcome[],
): readonly RetryEvent[] {
  const found = [...groupByPath(runs)].flatMap(([path, ofPath]) => [
    ...findBetweenUploads(upload, { runs: ofPath, path }, earlier),
    findChild(upload, ofPath),
    findRepeated(upload, ofPath),
  ]);
  return found.filter((event) => event !== undefined);
}

/** How often the case occurs if all of its occurrences pass; undefined if that says nothing. */
export function passingMultiplicity(runs: readonly ObservedRun[]): number | undefined {
  if (runs.length < 2) return undefined;
  const cases = runs.filter(isCase);
  if (cases.length < 2 || cases.length > MAX_MULTIPLICITY || cases.length < runs.filter(hasRun).length)
    return undefined;
  return cases.every((run) => run.conclusion === 'SUCCESS') ? cases.length : undefined;
}

/** Evidence stands while no passing commit explains it: `known` are the multiplicities seen to pass. */
// SPEC F39
export function stands(event: RetryEvent, known: readonly number[]): boolean {
  if (event.multiplicity === 0 || known.length === 0) return true;
  return event.isMarked && !known.includes(event.multiplicity);
}

// SPEC F1, F38, F85
function findBetweenUploads(
  upload: UploadFacts,
  { runs, path }: { readonly runs: readonly ObservedRun[]; readonly path: string | null },
  earlier: readonly EarlierOutcome[],
): readonly RetryEvent[] {
  const ran = runs.filter(hasRun);
  if (ran.length === 0) return [];
  const { hasFailed, at } = outcomeOf(ran);
  const failures = earlier.filter((outcome) => outcome.hasFailed && mayHaveFailed(outcome, path));
  const hasFailedPart = (outcome: EarlierOutcome) =>
    failures.some((part) => part.tree === upload.tree && isSameRun(part, hasFailed ? outcome : upload));
  const others = earlier.filter(
    (outcome) =>
      outcome.hasFailed !== hasFailed &&
      outcome.uploadId !== upload.id &&
      (hasFailed || mayHaveFailed(outcome, path)) &&
      !isSameRun(outcome, upload) &&
      (outcome.sha === upload.sha || (Math.abs(outcome.at - at) <= SAME_TREE_MS && !hasFailedPart(outcome))),
  );
  const here: Side = { ref: refOf(upload, at, path), of: upload };
  return others.map((outcome) => {
    const there: Side = { ref: { ...here.ref, ...earlierRef(outcome) }, of: outcome };
    const [failed, passed] = hasFailed ? [here, there] : [there, here];
    // The later of the two uploads is named, in whichever order they arrived.
    const [named, other] = compareRefs(here.ref, there.ref) <= 0 ? [here, there] : [there, here];
    return {
      ...named.ref,
      ...treeOf(upload.tree ?? outcome.tree),
      ...{ failed: outcomeRef(failed), passed: outcomeRef(passed), failedAt: failed.ref.at, passedAt: passed.ref.at },
      ...{ multiplicity: 0, isMarked: false, otherUploadId: other.ref.uploadId },
    };
  });
}

/** One of the two uploads of a retry. */
interface Side {
  readonly ref: RunRef;
  readonly of: Pick<UploadFacts, 'candidateId' | 'jobAttempt'>;
}

/** The outcome of a test in an upload, by its runs there that were not skipped. */
export function outcomeOf(ran: readonly ObservedRun[]): Pick<EarlierOutcome, 'hasFailed' | 'at'> {
  const failed = ran.filter((run) => run.conclusion === 'FAILURE');
  const hasFailed = failed.length > 0;
  return { hasFailed, at: Math.max(...(hasFailed ? failed : ran).map((run) => run.startedAt)) };
}

/** The upload is a part of the run that passed, and the test failed in it. The run of another commit proves nothing then. */
// SPEC F38
export function isWithdrawnBy(
  { job, tree, path = null, failed, passed }: RetryEvent,
  { upload, runs }: { readonly upload: UploadFacts; readonly runs: readonly ObservedRun[] },
): boolean {
  if (passed === undefined || passed.sha === failed?.sha || tree !== treeOf(upload.tree).tree) return false;
  if (job !== upload.job || !isSameRun(passed, upload)) return false;
  return runs.some((run) => run.conclusion === 'FAILURE' && (path === null || (run.path ?? path) === path));
}

/** The tree without the commands that were run on it. */
function treeOf(tested: TestedTree | null): Pick<RunRef, 'tree'> {
  return tested === null ? {} : { tree: tested.split(' ', 1)[0] as string };
}

function outcomeRef({ ref: { uploadId, sha }, of: { candidateId, jobAttempt } }: Side): OutcomeRef {
  return { uploadId, sha, candidateId, jobAttempt };
}

function mayHaveFailed({ failedPaths }: EarlierOutcome, path: string | null): boolean {
  return path === null || failedPaths === undefined || failedPaths.some((failed) => failed === null || failed === path);
}

function earlierRef({ at, sha, branch, prNumber, uploadId }: EarlierOutcome): Omit<RunRef, 'job'> {
  return { at, sha, branch, prNumber, uploadId };
}

// SPEC F3
function findChild(upload: UploadFacts, runs: readonly ObservedRun[]): RetryEvent | undefined {
  const child = latest(runs.filter((run) => run.rerunOf === 'SUCCESS' && run.conclusion === 'FAILURE'));
  const passed = latest(runs.filter((run) => isCase(run) && run.conclusion === 'SUCCESS'));
  if (child === undefined || passed === undefined) return undefined;
  return certain(upload, { failedAt: child.startedAt, passedAt: passed.startedAt }, passed.path);
}

// SPEC F2
function findRepeated(upload: UploadFacts, runs: readonly ObservedRun[]): RetryEvent | undefined {
  const cases = runs.filter(isCase);
  if (cases.length < 2 || cases.length > MAX_MULTIPLICITY) return undefined;
  const failed = cases.filter((run) => run.conclusion === 'FAILURE');
  const passed = cases.filter((run) => run.conclusion === 'SUCCESS');
  return findPair(upload, failed, passed, true) ?? findPair(upload, failed, passed, false);
}

function findPair(
  upload: UploadFacts,
  failed: readonly ObservedRun[],
  passed: readonly ObservedRun[],
  isMarked: boolean,
): RetryEvent | undefined {
  const order = (run: ObservedRun) => (isMarked ? run.attempt : run.startedAt);
  const first = failed.filter((run) => order(run) !== null).sort((a, b) => Number(order(a)) - Number(order(b)))[0];
  if (first === undefined) return undefined;
  const retry = latest(passed.filter((run) => order(run) !== null && Number(order(run)) > Number(order(first))));
  if (retry === undefined) return undefined;
  const times = { failedAt: first.startedAt, passedAt: retry.startedAt };
  return { ...certain(upload, times, retry.path), multiplicity: failed.length + passed.length, isMarked };
}

function certain(
  upload: UploadFacts,
  times: { readonly failedAt: Instant; readonly passedAt: Instant },
  path: string | null | undefined,
): RetryEvent {
  const at = Math.max(times.failedAt, times.passedAt);
  const ref = { ...refOf(upload, at, path), ...treeOf(upload.tree) };
  return { ...ref, ...times, multiplicity: 0, isMarked: false, otherUploadId: null };
}

function isCase(run: ObservedRun): boolean {
  return run.rerunOf === null && hasRun(run);
}

function hasRun(run: ObservedRun): boolean {
  return run.conclusion !== 'SKIPPED';
}

function latest(runs: readonly ObservedRun[]): ObservedRun | undefined {
  return runs.reduce<ObservedRun | undefined>(
    (best, run) => (best === undefined || run.startedAt > best.startedAt ? run : best),
    undefined,
  );
}
