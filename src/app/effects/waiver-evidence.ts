/**
 * Evidence that may excuse a failed test in a queue: uploads of proven origin, from the history of the target branch or
 * from candidates of this queue without the pull requests under test. Runs of a pull request's own commits, and uploads
 * that anybody could have sent, excuse nothing.
 */
import { type Candidate, compositionOf } from '../../engine/candidate.ts';
import { worthOf } from '../../flaky/core/evidence.ts';
import type { FailedTest, TestEvidence } from '../../flaky/judge-failure.ts';
import type { PastRuns } from '../../flaky/replay.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { BatchFacts, CheckResults, StoredBatch, StoredRun } from '../../storage/test-ingest.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import type { EffectRun } from './effect-run.ts';

const UUID_AT_END = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-bisection)?$/;
const WHOLE_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** More queries would take too long; a commit that is not looked up does not count. */
const MAX_ASKING_MS = 20_000;
const MAX_QUESTIONS = 1_000;
/** Tests whose runs are in memory at once. */
const TESTS_AT_ONCE = 50;

export interface WantedEvidence {
  readonly results: CheckResults | undefined;
  readonly tests: ReadonlyMap<string, FailedTest>;
  readonly admittedAt: Instant;
  /** Older runs are past the retention. */
  readonly since: Instant;
}

export async function findWaiverEvidence(
  run: EffectRun,
  candidate: Candidate,
  wanted: WantedEvidence,
): Promise<ReadonlyMap<string, TestEvidence>> {
  const { results, tests, admittedAt, since } = wanted;
  const places = new Places(run, candidate, results);
  const found = new Map<string, TestEvidence>();
  // A test that a person quarantined needs no evidence.
  const failing = (results?.failing ?? []).filter(({ testId }) => {
    const quarantine = tests.get(testId)?.quarantine;
    return quarantine?.by !== 'person' || quarantine.at > admittedAt;
  });
  for (let from = 0; from < failing.length; from += TESTS_AT_ONCE) {
    const some = failing.slice(from, from + TESTS_AT_ONCE);
    const numbers = some.map(({ testNo }) => testNo);
    const batches = await run.app.store.testIngest.readRuns(run.found.repositoryId, numbers, since);
    for (const { testId, testNo } of some) found.set(testId, await select(places, batches, testNo));
  }
  return found;
}

async function select(places: Places, batches: readonly StoredBatch[], testNo: number): Promise<TestEvidence> {
  const past: PastRuns[] = [];
  let hasUnproven = false;
  for (const { facts, receivedAt, runs } of batches) {
    const own = runs.filter((run) => run.testNo === testNo);
    if (own.length === 0) continue;
    const hasFailed = own.some(({ conclusion }) => conclusion === 'FAILURE');
    const worth = worthOf(facts);
    if (worth === 'STATUSES' && hasFailed) hasUnproven = true;
    if (worth !== 'WAIVERS' || places.isPlainlyTheirs(facts)) continue;
    // A pass counts against flakiness, except on a commit on which the test also failed. So only failures are looked
    // up.
    if (hasFailed && !(await places.mayExcuse(facts))) continue;
    past.push(pastRunsOf(facts, receivedAt, own));
  }
  return { past, hasUnproven };
}

function pastRunsOf(facts: BatchFacts, at: Instant, runs: readonly StoredRun[]): PastRuns {
  const { uploadId: id, branch, sha, job, jobAttempt, prNumber, flaw } = facts;
  const observed = runs.map((run) => ({ ...run, attempt: null, rerunOf: null }));
  return { upload: { id, branch, sha, job, jobAttempt, prNumber, flaw }, at, runs: observed };
}

/** Tells which pull requests a commit belongs to. Each commit is looked up once. */
class Places {
  readonly #run: EffectRun;
  readonly #candidate: Candidate;
  readonly #prNumbers: ReadonlySet<number>;
  readonly #shas: ReadonlySet<string>;
  readonly #uploadIds: ReadonlySet<string>;
  readonly #known = new Map<string, boolean>();
  readonly #endsAt: Instant;

  constructor(run: EffectRun, candidate: Candidate, results: CheckResults | undefined) {
    const members = compositionOf(candidate);
    this.#run = run;
    this.#candidate = candidate;
    this.#prNumbers = new Set(members.map(({ prNumber }) => prNumber));
    this.#shas = new Set([...members.map(({ headSha }) => headSha), candidate.commit?.sha ?? '']);
    this.#uploadIds = new Set([...(results?.uploadIds ?? []), ...(results?.unprovenIds ?? [])]);
    this.#endsAt = run.app.clock.now() + MAX_ASKING_MS;
  }

  /** Decides from the batch alone, without queries. */
  isPlainlyTheirs({ sha, uploadId, prNumber }: BatchFacts): boolean {
    if (this.#shas.has(sha.toLowerCase()) || this.#uploadIds.has(uploadId)) return true;
    return prNumber !== null && this.#prNumbers.has(prNumber);
  }

  // SPEC V54
  async mayExcuse({ sha, branch, uploadId }: BatchFacts): Promise<boolean> {
    const key = JSON.stringify([sha, branch, uploadId]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_QUESTIONS || this.#run.app.clock.now() > this.#endsAt) return false;
    const answer = !(await this.#isOfRelative(branch, uploadId)) && (await this.#isOfQueueOrTarget(sha.toLowerCase()));
    this.#known.set(key, answer);
    return answer;
  }

  /** The upload is of a test run with one of these pull requests, by its branch or by its own fields. */
  async #isOfRelative(branch: string, uploadId: string): Promise<boolean> {
    const { store } = this.#run.app;
    // The name of a test branch ends with the id of its test run.
    const named = UUID_AT_END.exec(branch)?.[1];
    const tied = (await store.uploads.find(uploadId))?.fields?.candidateId;
    for (const id of new Set([named, tied])) {
      if (id === undefined || id === null) continue;
      const row = await store.queues.findCandidateById(id);
      // An unknown test run may have had any pull request.
      if (row === undefined || this.#isRelative(row)) return true;
    }
    return false;
  }

  #isRelative(row: CandidateRow): boolean {
    return compositionOf(decodeCandidate(row)).some(({ prNumber }) => this.#prNumbers.has(prNumber));
  }

  async #isOfQueueOrTarget(sha: string): Promise<boolean> {
    // An abbreviated id may match any commit.
    if (!WHOLE_SHA.test(sha)) return false;
    const { app, found, forge, repository } = this.#run;
    const row = await app.store.queues.findCandidateBySha([found.id], sha);
    if (row !== undefined) return !this.#isRelative(row);
    return forge.isAncestor({ repository, ancestor: sha as Sha, descendant: this.#candidate.base.sha });
  }
}
