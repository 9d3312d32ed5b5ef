import { randomUUID } from 'node:crypto';
import { newTestState } from '../../src/flaky/core/state.ts';
import { dayOf, FIGURE_DAYS, firstFigureDay } from '../../src/flaky/daily-counts.ts';
import { createTestIds } from '../../src/flaky/identity/test-id.ts';
import { Prng } from '../../src/lib/prng.ts';
import type { Repository, RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import { encodeState } from '../../src/storage/test-codec.ts';
import type { CountedRuns, StoredFailure, StoredRun, TestMemory } from '../../src/storage/test-ingest.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import { failsNow, failureOf, RUNS_PER_UPLOAD, SHARDS, TESTS, testOf } from './ci-reports.ts';
import { progress } from './figure.ts';
import { SCOPE } from './tests-world.ts';

const DAYS = 45;
const DAY_MS = 86_400_000;

const createId = createTestIds({ org: SCOPE.org_url_slug, repository: SCOPE.repo, variant: '' });

/** The id that reports of the test give it, so later uploads are of the same tests. */
export function testIdOf(index: number): string {
  const { suite, name, file } = testOf(index);
  return createId({ file, classname: suite, parent: suite, name, infoId: '' });
}

interface Filling {
  readonly runs: number;
  readonly quarantined: number;
  /** Default: 20,000. */
  readonly tests?: number;
  /** Owners, each of as many tests. Default: one. */
  readonly teams?: number;
}

/** Writes what a server would have stored in 45 days: `runs` executions of the tests, 1% failing. */
export async function fillTests(store: Store, of: Filling): Promise<void> {
  const repository = await ensureShop(store);
  const startAt = Date.now() - DAYS * DAY_MS + 3_600_000;
  const rows = testRows(repository.id, { ...of, startAt });
  let seq = await addTests(store, repository.id, { rows, startAt });
  const batches = Math.ceil(of.runs / RUNS_PER_UPLOAD);
  const random = new Prng('flaky reads');
  const tally = new RunTally(rows.length);
  for (let no = 0; no < batches; no += 1) {
    const at = startAt + Math.floor(((DAYS * DAY_MS - 7_200_000) * no) / batches);
    const shard = no % (rows.length / RUNS_PER_UPLOAD);
    seq = await addBatch(store, repository.id, { no, shard, at, seq, random, tally });
    if ((no + 1) % 200 === 0) progress(`flaky: ${((no + 1) * RUNS_PER_UPLOAD) / 1e6} million runs stored`);
  }
  await storeFigures(store, repository.id, { rows, seq, startAt, tally });
  await store.testIngest.markCounted(repository.id, seq);
}

const SLICE = 500;

/** As the server stores them some time after the runs. */
async function storeFigures(
  store: Store,
  repositoryId: RepositoryId,
  of: { readonly rows: readonly TestRow[]; readonly seq: number; readonly startAt: number; readonly tally: RunTally },
): Promise<void> {
  const { rows, seq, startAt, tally } = of;
  for (let from = 0; from < rows.length; from += SLICE) {
    const memories = rows.slice(from, from + SLICE).map((row): TestMemory => {
      return { ...memoryOf(row, startAt), seq, counted: { ...tally.countedOf(row.no - 1), afterSeq: 0 } };
    });
    const isStored = await store.testIngest.storeMemories({ repositoryId, expectedSeq: seq, memories });
    if (!isStored) throw new Error('somebody else writes');
  }
}

/** The runs of every test by day, in little memory. */
class RunTally {
  readonly #firstDay = firstFigureDay(dayOf(Date.now()));
  readonly #days: readonly { runs: Uint16Array; failures: Uint16Array; us: Float64Array }[];
  readonly #lastFailureAt: Float64Array;

  constructor(tests: number) {
    this.#lastFailureAt = new Float64Array(tests);
    this.#days = Array.from({ length: FIGURE_DAYS }, () => ({
      runs: new Uint16Array(tests),
      failures: new Uint16Array(tests),
      us: new Float64Array(tests),
    }));
  }

  note({ testNo, startedAt, conclusion, durationMs }: StoredRun): void {
    const index = testNo - 1;
    if (conclusion === 'FAILURE') this.#lastFailureAt[index] = startedAt;
    const day = this.#days[dayOf(startedAt) - this.#firstDay];
    if (day === undefined) return;
    day.runs[index] = (day.runs[index] as number) + 1;
    day.us[index] = (day.us[index] as number) + (durationMs ?? 0) * 1_000;
    if (conclusion === 'FAILURE') day.failures[index] = (day.failures[index] as number) + 1;
  }

  countedOf(index: number): CountedRuns {
    const days = this.#days.flatMap(({ runs, failures, us }, day) => {
      const count = runs[index] as number;
      return count === 0
        ? []
        : [this.#firstDay + day, count, failures[index] as number, count, Math.round(us[index] as number)];
    });
    return { days, lastFailureAt: this.#lastFailureAt[index] || null };
  }
}

async function ensureShop(store: Store): Promise<Repository> {
  const organization = await store.accounts.findOrganization(SCOPE.org_url_slug);
  if (organization === undefined) throw new Error('the organization is missing');
  const at = Date.now() - DAYS * DAY_MS;
  return store.repositories.save({
    id: randomUUID() as RepositoryId,
    organizationId: organization.id,
    ...SCOPE.repo,
    git: null,
    forgeId: null,
    blockedReason: null,
    checks: [],
    junit: [],
    fileChecks: null,
    trustChecks: false,
    runHooks: false,
    createdAt: at,
    updatedAt: at,
  });
}

function testRows(
  repositoryId: RepositoryId,
  { quarantined, startAt, tests = TESTS, teams }: Filling & { readonly startAt: number },
): readonly TestRow[] {
  return Array.from({ length: tests }, (_, index) => {
    const row = testRow(index, repositoryId, { startAt, isQuarantined: index < quarantined });
    return teams === undefined ? row : { ...row, codeowners: [teamOf(index % teams)] };
  });
}

export function teamOf(team: number): string {
  return `@acme/team-${team}`;
}

async function addTests(
  store: Store,
  repositoryId: RepositoryId,
  { rows: tests, startAt }: { readonly rows: readonly TestRow[]; readonly startAt: number },
): Promise<number> {
  const { seq, nextTestNo } = await store.testIngest.load(repositoryId, []);
  if (nextTestNo !== 1) throw new Error('there are tests already');
  const stored = await store.testIngest.commit(
    {
      repositoryId,
      expectedSeq: seq,
      tests,
      memories: tests.map((test): TestMemory => memoryOf(test, startAt)),
      failures: [],
      events: [],
    },
    startAt,
  );
  if (stored === undefined) throw new Error('somebody else writes');
  return stored;
}

function testRow(
  index: number,
  repositoryId: RepositoryId,
  { startAt, isQuarantined }: { readonly startAt: number; readonly isQuarantined: boolean },
): TestRow {
  const { suite, name, file } = testOf(index);
  const isFlaky = index % 20 === 0;
  const override = { actor: 'bench', at: startAt, reason: 'known', expiresAt: null };
  return {
    id: testIdOf(index),
    repositoryId,
    no: index + 1,
    name,
    variant: '',
    parent: suite,
    classname: suite,
    file,
    codeowners: ['@acme/shop'],
    firstSeenAt: startAt,
    status: isFlaky ? 'FLAKY' : 'HEALTHY',
    statusReason: isFlaky ? 'Flagged as flaky by bench.' : 'It is healthy.',
    statusAt: startAt,
    quarantineOverride: isQuarantined ? 'ALWAYS_QUARANTINE' : 'UNSPECIFIED',
    override: isQuarantined ? override : null,
    quarantinedAt: isQuarantined ? startAt : null,
    isFlagged: isFlaky,
    labels: [],
    ticketUrl: null,
  };
}

/** Flaky tests are flagged by a person, so that they stay flaky. */
function memoryOf({ no, status, statusReason, isFlagged }: TestRow, startAt: number): TestMemory {
  const flag = isFlagged ? { actor: 'bench', at: startAt, reason: null } : null;
  const state = { ...newTestState(startAt), status, statusReason, statusSince: startAt, flag };
  return { testNo: no, seq: 0, state: encodeState(state), nextCheckAt: null, settingsVersion: 0, lastRunAt: startAt };
}

async function addBatch(
  store: Store,
  repositoryId: RepositoryId,
  of: {
    readonly no: number;
    /** Which tests ran. */
    readonly shard: number;
    readonly at: number;
    readonly seq: number;
    readonly random: Prng;
    readonly tally: RunTally;
  },
): Promise<number> {
  const { no, at, seq: expectedSeq, random } = of;
  const first = of.shard * RUNS_PER_UPLOAD;
  const runs: StoredRun[] = [];
  const failures: StoredFailure[] = [];
  for (let index = first; index < first + RUNS_PER_UPLOAD; index += 1) {
    const fails = failsNow(index, random);
    const startedAt = at + random.integer(600_000);
    const durationMs = random.between(10, 900);
    runs.push({
      testNo: index + 1,
      startedAt,
      conclusion: fails ? 'FAILURE' : 'SUCCESS',
      durationMs,
      isQuarantined: false,
    });
    if (fails) failures.push(failureRow(index, startedAt, random));
  }
  for (const run of runs) of.tally.note(run);
  const commit = Math.floor(no / SHARDS);
  const facts = {
    uploadId: randomUUID(),
    branch: commit % 2 === 0 ? 'main' : `change-${commit}`,
    sha: commit.toString(16).padStart(40, 'c0ffee'),
    tree: null,
    candidateId: null,
    job: `unit-${no % SHARDS}`,
    jobAttempt: null,
    jobName: `unit-${no % SHARDS}`,
    jobUrl: null,
    prNumber: commit % 2 === 0 ? null : commit,
    flaw: null,
    isProven: false,
  };
  const change = { repositoryId, expectedSeq, tests: [], memories: [], failures, events: [], batch: { facts, runs } };
  const stored = await store.testIngest.commit(change, at);
  if (stored === undefined) throw new Error('somebody else writes');
  return stored;
}

function failureRow(index: number, startedAt: number, random: Prng): StoredFailure {
  const { message, text } = failureOf(index, random.integer(5));
  return {
    testId: testIdOf(index),
    testNo: index + 1,
    startedAt,
    isBlocking: true,
    isQuarantined: false,
    path: '',
    group: `group-${index % 7}-${random.integer(3)}`,
    summary: `AssertionFailedError: ${message}`,
    text,
  };
}
