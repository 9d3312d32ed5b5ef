/**
 * Which runs of tests are of the commits under test: nobody is excused by what was seen only with his own commits. Their
 * own runs are those of the candidate's commit, of the commits of the pull requests in it, those that name one of them,
 * and those of other candidates with one of them in it.
 */
import { type Candidate, compositionOf } from '../../engine/candidate.ts';
import type { Sha } from '../../engine/pull-request.ts';
import { isFlakyWithout } from '../../flaky/evidence.ts';
import type { FailedTest } from '../../flaky/judge-failure.ts';
import type { RunRef } from '../../flaky/run.ts';
import type { Instant } from '../../lib/clock.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { CheckResults } from '../../storage/test-ingest.ts';
import { decodeCandidate } from '../queue-codec.ts';
import type { EffectRun } from './effect-run.ts';

const UUID_AT_END = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-bisection)?$/;

const WHOLE_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Asking about more takes too long; whatever is not asked about counts as theirs. */
const MAX_ASKING_MS = 20_000;
const MAX_QUESTIONS = 1_000;

type Recognise = (ref: RunRef) => boolean;

/** As far as that can be told without asking anybody. */
export function plainlyTheirs(candidate: Candidate, results: CheckResults | undefined): Recognise {
  const members = compositionOf(candidate);
  const prNumbers = new Set<number>(members.map(({ prNumber }) => prNumber));
  const shas = new Set<string>([...members.map(({ headSha }) => headSha), candidate.commit?.sha ?? '']);
  const uploads = new Set(results?.uploadIds);
  return ({ sha, uploadId, prNumber }) =>
    shas.has(sha.toLowerCase()) || uploads.has(uploadId) || (prNumber !== null && prNumbers.has(prNumber));
}

/** For sure, of as many runs as it takes to excuse these tests. Whatever nobody was asked about counts as theirs. */
export async function recogniseOwnRuns(
  run: EffectRun,
  candidate: Candidate,
  of: { readonly tests: Iterable<FailedTest>; readonly isTheirs: Recognise; readonly admittedAt: Instant },
): Promise<Recognise> {
  const foreign = new Set<string>();
  const isTheirs = (ref: RunRef) => of.isTheirs(ref) || !foreign.has(keyOf(ref));
  const asking = new Asking(run, candidate);
  for (const { state, monitors, alwaysSince } of of.tests) {
    // A person's word needs no evidence.
    if (alwaysSince !== null && alwaysSince <= of.admittedAt) continue;
    for (const ref of evidenceOf({ state, monitors }, of.isTheirs).toSorted(asking.easiestFirst)) {
      if (isFlakyWithout(state, monitors, isTheirs, of.admittedAt)) break;
      if (isTheirs(ref) && !(await asking.isTheirs(ref))) foreign.add(keyOf(ref));
    }
  }
  return isTheirs;
}

/** The runs that stand for a test being flaky, those left out that are known to count for nothing. */
function evidenceOf({ state, monitors }: Pick<FailedTest, 'state' | 'monitors'>, isTheirs: Recognise): RunRef[] {
  const refs = new Map<string, RunRef>();
  const note = (ref: RunRef) => {
    if (!isTheirs(ref)) refs.set(keyOf(ref), ref);
    // As if none counted, so that it asks about all of them.
    return true;
  };
  isFlakyWithout({ ...state, flag: null }, monitors, note);
  return [...refs.values()];
}

function keyOf({ sha, branch, uploadId }: RunRef): string {
  return JSON.stringify([sha, branch, uploadId]);
}

class Asking {
  readonly #run: EffectRun;
  readonly #candidate: Candidate;
  readonly #prNumbers: ReadonlySet<number>;
  readonly #commits = new Map<string, boolean>();
  readonly #endsAt: Instant;
  #questions = 0;

  constructor(run: EffectRun, candidate: Candidate) {
    this.#endsAt = run.app.clock.now() + MAX_ASKING_MS;
    this.#run = run;
    this.#candidate = candidate;
    this.#prNumbers = new Set(compositionOf(candidate).map(({ prNumber }) => prNumber));
  }

  /** The forge is not asked about what ran on the target: nothing of theirs is there yet. */
  readonly easiestFirst = (one: RunRef, other: RunRef) =>
    Number(this.#isOnTarget(other)) - Number(this.#isOnTarget(one));

  #isOnTarget({ branch }: RunRef): boolean {
    return branch === this.#run.found.queue.branch;
  }

  async isTheirs(ref: RunRef): Promise<boolean> {
    if (this.#run.app.clock.now() > this.#endsAt || (await this.#isOfRelative(ref))) return true;
    return !this.#isOnTarget(ref) && (await this.#isOfTheirCommits(ref.sha.toLowerCase()));
  }

  /** Of a test run with one of these pull requests in it: by its branch, or by what the upload says it is tied to. */
  async #isOfRelative({ branch, uploadId }: RunRef): Promise<boolean> {
    const { store } = this.#run.app;
    // A test branch ends with the id of its test run.
    const named = UUID_AT_END.exec(branch)?.[1];
    const tied = (await store.uploads.find(uploadId))?.fields?.candidateId;
    for (const id of new Set([named, tied])) {
      if (id === undefined || id === null) continue;
      const row = await store.queues.findCandidateById(id);
      // One that nobody remembers may have been anybody's.
      if (row === undefined || this.#isRelative(row)) return true;
    }
    return false;
  }

  #isRelative(row: CandidateRow): boolean {
    return compositionOf(decodeCandidate(row)).some(({ prNumber }) => this.#prNumbers.has(prNumber));
  }

  async #isOfTheirCommits(sha: string): Promise<boolean> {
    const known = this.#commits.get(sha);
    if (known !== undefined) return known;
    // Half a name may be that of any commit.
    if (!WHOLE_SHA.test(sha)) return true;
    const found = (await this.#isOfRelativeCommit(sha)) || (await this.#isAhead(sha as Sha));
    this.#commits.set(sha, found);
    return found;
  }

  async #isOfRelativeCommit(sha: string): Promise<boolean> {
    const { app, found } = this.#run;
    const queueIds = await app.directory.listQueueIds(found.repositoryId);
    const row = await app.store.queues.findCandidateBySha(queueIds, sha);
    return row !== undefined && this.#isRelative(row);
  }

  /** In one of the pull requests, and not in the target they were put on. */
  async #isAhead(sha: Sha): Promise<boolean> {
    for (const { headSha } of compositionOf(this.#candidate)) {
      if (this.#questions >= MAX_QUESTIONS) return true;
      if (await this.#isAncestor(sha, headSha)) return !(await this.#isAncestor(sha, this.#candidate.base.sha));
    }
    return false;
  }

  #isAncestor(ancestor: Sha, descendant: Sha): Promise<boolean> {
    this.#questions += 1;
    const { forge, repository } = this.#run;
    return forge.isAncestor({ repository, ancestor, descendant });
  }
}
