import { toMicroseconds } from '../../src/storage/sql/stored-runs.ts';
import { compareFailures } from '../../src/storage/sql/test-batches.ts';
import type {
  EarlierBatch,
  EarlierQuery,
  MemorySlice,
  StoredFailure,
  StoredRun,
  TestChange,
  TestIngest,
  TestMemory,
  TestUpkeepStore,
  UncountedBatch,
} from '../../src/storage/test-ingest.ts';
import type {
  FailureGroup,
  TestEventRow,
  TestExecution,
  TestListQuery,
  TestRow,
  TestRunQuery,
  TestStats,
  TestStore,
} from '../../src/storage/tests.ts';
import { DAY_MS } from '../helpers/store-rows.ts';

/** The part of a store that is compared with the naive one. */
export type ComparedStore = {
  readonly testIngest: Pick<TestIngest, keyof NaiveTests['testIngest']>;
  readonly testUpkeep: Pick<TestUpkeepStore, keyof NaiveTests['testUpkeep']>;
  readonly tests: Pick<TestStore, keyof NaiveTests['tests']>;
};

type Batch = { -readonly [Key in keyof UncountedBatch]: UncountedBatch[Key] } & { isUncounted: boolean };
type Failure = StoredFailure & { readonly seq: number; readonly prNumber: number | null };

interface KnownTest {
  readonly test: TestRow;
  readonly memory: TestMemory;
}

/** Quarantine and status of a test after a change. */
interface Moment {
  readonly seq: number;
  readonly test: TestRow;
}

const GROUPS_SHOWN = 5;

/**
 * The tests of one repository as plain lists, each question answered by going through all of them: naive enough to be
 * believed. Writers follow each other, so that nothing but the order of changes is refused.
 */
export class NaiveTests {
  #seq = 0;
  #lastTestNo = 0;
  #quarantineVersion = 0;
  #known: KnownTest[] = [];
  #moments: Moment[] = [];
  #batches: Batch[] = [];
  #failures: Failure[] = [];
  #events: (TestEventRow & { readonly seq: number })[] = [];

  readonly testIngest = {
    loadRange: async (_id, fromNo, toNo) => ({
      seq: this.#seq,
      nextTestNo: this.#lastTestNo + 1,
      known: this.#known.filter(({ test: { no } }) => no >= fromNo && no < toNo).sort((a, b) => a.test.no - b.test.no),
    }),
    commit: async (change, at) => this.#commit(change, at),
    storeMemories: async (slice) => this.#storeMemories(slice),
    markCounted: async (_id, upToSeq) => {
      for (const batch of this.#batches) if (batch.seq <= upToSeq) batch.isUncounted = false;
    },
    listUncounted: async () => this.#uncounted().map(({ isUncounted: _, ...batch }) => batch),
    measureUncounted: async () => {
      const batches = this.#uncounted();
      const runs = batches.reduce((sum, batch) => sum + batch.runs.length, 0);
      return { batches: batches.length, runs, upToSeq: batches.at(-1)?.seq ?? 0 };
    },
    findEarlier: async (_id, of) => this.#findEarlier(of),
    findPasses: async (_id, seq, testNos) => {
      const runs = this.#batches.find((batch) => batch.seq === seq)?.runs ?? [];
      const passed = runs.filter((run) => run.conclusion === 'SUCCESS' && testNos.includes(run.testNo));
      return new Map([...Map.groupBy(passed, (run) => run.testNo)].map(([no, all]) => [no, latestOf(all)]));
    },
    readRuns: async (_id, testNos, since) =>
      this.#batches
        .map(({ facts, receivedAt, runs }) => {
          const wanted = runs.filter((run) => testNos.includes(run.testNo) && run.startedAt >= since);
          const sorted = wanted.sort((a, b) => a.testNo - b.testNo || a.startedAt - b.startedAt);
          return { facts, receivedAt, runs: sorted };
        })
        .filter(({ runs }) => runs.length > 0),
  } satisfies Partial<TestIngest>;

  readonly testUpkeep = {
    forget: async (_id, before) => this.#forget(before),
    purge: async () => 0,
  } satisfies Partial<TestUpkeepStore>;

  readonly tests = {
    listFailing: async (query) => this.#listFailing(query),
    listQuarantined: async (query) => this.#listWhere(query, (test) => test.quarantinedAt !== null),
    listByStatus: async (query) => this.#listWhere(query, (test) => test.status === query.status),
    listRuns: async (query) => this.#listRuns(query),
    listEvents: async ({ testId, watermark, offset, limit }) => {
      const events = this.#events
        .filter((event) => event.testId === testId && event.seq <= watermark)
        .sort((a, b) => a.at - b.at)
        .reverse();
      const page = events.slice(offset, offset + limit);
      return { totalRows: events.length, events: page.map(({ seq: _, ...event }) => event) };
    },
    getStats: async ({ testIds, ...window }) => testIds.map((id) => this.#statsOf(id, window)),
    countRuns: async (_id, tests) =>
      tests.map(({ testId, since }) => {
        const runs = this.#runsOf(testId).filter((run) => run.startedAt >= since && run.conclusion !== 'SKIPPED');
        const failures = runs.filter(isFailure).length;
        return { passes: runs.length - failures, failures, lastRunAt: runs.length === 0 ? null : latestOf(runs) };
      }),
    listQuarantinedIds: async () => {
      const quarantined = this.#known.filter(({ test }) => test.quarantinedAt !== null);
      return { version: this.#quarantineVersion, ids: quarantined.map(({ test }) => test.id).sort() };
    },
    getQuarantineVersion: async () => this.#quarantineVersion,
  } satisfies Partial<TestStore>;

  #find(testId: string): TestRow | undefined {
    return this.#known.find(({ test }) => test.id === testId)?.test;
  }

  #uncounted(): Batch[] {
    return this.#batches.filter(({ isUncounted }) => isUncounted);
  }

  #commit({ expectedSeq, tests, memories, batch, failures, events }: TestChange, at: number): number | undefined {
    if (this.#seq !== expectedSeq) return undefined;
    this.#seq += 1;
    const seq = this.#seq;
    const isQuarantined = (test: TestRow | undefined) => test !== undefined && test.quarantinedAt !== null;
    if (tests.some((test) => isQuarantined(test) !== isQuarantined(this.#find(test.id)))) this.#quarantineVersion += 1;
    for (const test of tests) this.#put(test, seq);
    this.#remember(memories);
    if (batch !== undefined) {
      const runs = batch.runs.map(asStored).sort((a, b) => a.testNo - b.testNo);
      this.#batches.push({ seq, facts: batch.facts, receivedAt: at, runs, isUncounted: runs.length > 0 });
    }
    const prNumber = batch?.facts.prNumber ?? null;
    this.#failures.push(...failures.map((failure) => ({ ...failure, seq, prNumber })));
    this.#events.push(...events.map((event) => ({ ...event, seq })));
    return seq;
  }

  #put(test: TestRow, seq: number): void {
    const memory = this.#known.find((each) => each.test.id === test.id)?.memory as TestMemory;
    this.#known = [...this.#known.filter((each) => each.test.id !== test.id), { test, memory }];
    this.#moments.push({ seq, test });
    this.#lastTestNo = Math.max(this.#lastTestNo, test.no);
  }

  #remember(memories: readonly TestMemory[]): void {
    const byNo = new Map(memories.map((memory) => [memory.testNo, memory]));
    this.#known = this.#known.map(({ test, memory }) => ({ test, memory: byNo.get(test.no) ?? memory }));
  }

  #storeMemories({ expectedSeq, memories }: MemorySlice): boolean {
    if (this.#seq !== expectedSeq) return false;
    this.#remember(memories);
    return true;
  }

  #findEarlier({ sha, job, ofTree, exceptUploadId, beforeSeq, limit }: EarlierQuery) {
    const isOfTree = ({ facts: { tree }, receivedAt }: Batch) =>
      ofTree !== undefined && tree === ofTree.tree && receivedAt >= ofTree.since;
    const isWanted = (batch: Batch) => {
      const { seq, facts } = batch;
      return (
        seq < beforeSeq &&
        (facts.sha === sha || isOfTree(batch)) &&
        facts.job === job &&
        facts.uploadId !== exceptUploadId &&
        facts.flaw === null
      );
    };
    const newest = this.#batches.filter(isWanted).toSorted((one, other) => other.seq - one.seq);
    return newest.slice(0, limit).map(({ seq, facts }): EarlierBatch => {
      const failures = this.#failures.filter((failure) => failure.seq === seq);
      const latest = [...Map.groupBy(failures, ({ testNo, path }) => JSON.stringify([testNo, path]))].map(
        ([key, all]) => {
          const [testNo, path] = JSON.parse(key) as [number, string | null];
          return { testNo, path, at: latestOf(all) };
        },
      );
      return { seq, facts, failures: latest.sort(compareFailures) };
    });
  }

  /** All at once; answers how much it was. */
  #forget(before: number): number {
    const size = () => this.#failures.length + this.#events.length + this.#batches.length + this.#known.length;
    const sizeBefore = size();
    this.#failures = this.#failures.filter(({ startedAt }) => startedAt >= before);
    this.#events = this.#events.filter(({ at }) => at >= before);
    for (const batch of this.#batches) {
      if (!batch.isUncounted) batch.runs = batch.runs.filter(({ startedAt }) => startedAt >= before);
    }
    const kept = this.#batches.findIndex(({ receivedAt, isUncounted }) => receivedAt >= before || isUncounted);
    this.#batches.splice(0, kept === -1 ? this.#batches.length : kept);
    this.#forgetTests(this.#known.filter((known) => this.#isIdle(known, before)));
    return sizeBefore - size();
  }

  #isIdle({ test, memory }: KnownTest, before: number): boolean {
    const isUncounted = this.#uncounted().some(({ runs }) => runs.some(({ testNo }) => testNo === test.no));
    return !isUncounted && (memory.lastRunAt ?? test.firstSeenAt) < before;
  }

  #forgetTests(idle: readonly KnownTest[]): void {
    if (idle.length === 0) return;
    const ids = new Set(idle.map(({ test }) => test.id));
    this.#known = this.#known.filter(({ test }) => !ids.has(test.id));
    this.#events = this.#events.filter(({ testId }) => !ids.has(testId));
    this.#failures = this.#failures.filter(({ testId }) => !ids.has(testId));
    if (idle.some(({ test }) => test.quarantinedAt !== null)) this.#quarantineVersion += 1;
    this.#seq += 1;
  }

  #listFailing(query: Parameters<TestStore['listFailing']>[0]) {
    const counted = this.#failures.filter(
      ({ seq, startedAt }) => seq <= query.watermark && startedAt >= query.from && startedAt < query.until,
    );
    const failing = [...Map.groupBy(counted, ({ testId }) => testId)]
      .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
      .flatMap(([id]) => this.#find(id) ?? []);
    return pageOf(failing, query);
  }

  /** A list is of one moment, the rows in it are of now. */
  #listWhere(query: TestListQuery, isMember: (then: TestRow) => boolean) {
    const rows = this.#known.flatMap(({ test }) => {
      const then = this.#moments.findLast(({ seq, test: { id } }) => id === test.id && seq <= query.watermark);
      return then !== undefined && isMember(then.test) ? [test] : [];
    });
    return pageOf(
      rows.sort((a, b) => (a.id < b.id ? -1 : 1)),
      query,
    );
  }

  #runsOf(testId: string) {
    const no = this.#find(testId)?.no;
    return this.#batches.flatMap((batch) =>
      batch.runs.filter((run) => run.testNo === no).map((run) => ({ ...run, batch })),
    );
  }

  #listRuns(query: TestRunQuery) {
    const failures = this.#failures.filter(({ testId }) => testId === query.testId);
    const runs = this.#runsOf(query.testId)
      .map((run) => viewOf(run, run.batch, failures))
      .filter(
        ({ seq, view }) =>
          seq <= query.watermark &&
          view.startedAt >= query.since &&
          (query.branch === null || view.branch === query.branch) &&
          (query.conclusion === null || view.conclusion === query.conclusion),
      )
      .sort((a, b) => a.view.startedAt - b.view.startedAt)
      .reverse()
      .map(({ view }) => view);
    return { totalRows: runs.length, runs: runs.slice(query.offset, query.offset + query.limit) };
  }

  #statsOf(testId: string, { now, since }: { readonly now: number; readonly since: number }): TestStats {
    const isWithin =
      (days: number) =>
      ({ startedAt }: { readonly startedAt: number }) =>
        startedAt > now - days * DAY_MS && startedAt <= now && startedAt >= since;
    const runs = this.#runsOf(testId).filter(({ conclusion }) => conclusion !== 'SKIPPED');
    const failures = this.#failures.filter((failure) => failure.testId === testId);
    const [week, day] = [runs.filter(isWithin(7)), runs.filter(isWithin(1))];
    const blocked = failures.filter(({ isBlocking, prNumber }) => isBlocking && prNumber !== null).filter(isWithin(7));
    return {
      runs7d: week.length,
      failures7d: week.filter(isFailure).length,
      runs24h: day.length,
      failures24h: day.filter(isFailure).length,
      pullRequestsImpacted7d: new Set(blocked.map(({ prNumber }) => prNumber)).size,
      failureGroups: groupsOf(failures.filter(({ startedAt }) => startedAt >= since && startedAt <= now)),
    };
  }
}

function isFailure(run: StoredRun): boolean {
  return run.conclusion === 'FAILURE';
}

function latestOf(all: readonly { readonly startedAt: number }[]): number {
  return Math.max(...all.map(({ startedAt }) => startedAt));
}

function asStored(run: StoredRun): StoredRun {
  const microseconds = toMicroseconds(run.durationMs);
  return { ...run, durationMs: microseconds === null ? null : microseconds / 1000 };
}

function pageOf(rows: readonly TestRow[], { offset, limit }: TestListQuery) {
  return { totalRows: rows.length, tests: rows.slice(offset, offset + limit) };
}

/** The n-th run that failed in a batch at an instant has the n-th failure there; `failures` is used up. */
function viewOf(run: StoredRun, { seq, facts }: Batch, failures: Failure[]) {
  const index = failures.findIndex((failure) => failure.seq === seq && failure.startedAt === run.startedAt);
  const failure = isFailure(run) && index !== -1 ? failures.splice(index, 1)[0] : undefined;
  const { conclusion, startedAt, durationMs, isQuarantined } = run;
  const { branch, sha, prNumber, jobName, jobUrl, uploadId, flaw } = facts;
  const view: TestExecution = {
    ...{ conclusion, startedAt, durationMs, isQuarantined },
    ...{ branch, sha, prNumber, jobName, jobUrl, uploadId, flaw },
    failureSummary: failure?.summary ?? null,
    failureText: failure?.text ?? null,
  };
  return { seq, view };
}

/** Of failures at one instant the one stored last speaks for the group. */
function groupsOf(failures: readonly Failure[]): readonly FailureGroup[] {
  return [...Map.groupBy(failures, ({ group }) => group)]
    .map(([group, all]) => {
      const latest = all.reduce((a, b) => (b.startedAt >= a.startedAt ? b : a));
      return { group, summary: latest.summary, occurrences: all.length, lastAt: latest.startedAt };
    })
    .sort((a, b) => b.occurrences - a.occurrences || b.lastAt - a.lastAt || (a.group < b.group ? -1 : 1))
    .slice(0, GROUPS_SHOWN)
    .map(({ summary, occurrences, lastAt }) => ({ summary, occurrences, lastAt }));
}
