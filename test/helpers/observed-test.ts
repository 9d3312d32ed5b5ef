import { randomUUID } from 'node:crypto';
import { observe, scopeOf } from '../../src/flaky/observe.ts';
import { recordTest } from '../../src/flaky/test-record.ts';
import type { Repository } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import {
  currentTestSettings,
  decodeState,
  encodeState,
  eventRowOf,
  nextCheckOf,
  overrideOf,
  quarantineSettingsOf,
} from '../../src/storage/test-codec.ts';
import type { RunConclusion, TestRow } from '../../src/storage/tests.ts';
import { aTest } from './store-rows.ts';
import { anUpload, aRun } from './test-history.ts';

export interface Told {
  /** Absent: a new test. */
  readonly test?: TestRow;
  readonly values?: Partial<TestRow>;
  readonly at: number;
  /** The runs of one upload in order. RETRIED: it failed, and passed on a retry. */
  readonly runs: readonly (RunConclusion | 'RETRIED')[];
  readonly branch?: string;
  readonly prNumber?: number;
  /** The suite path of its runs. */
  readonly path?: string;
}

/** Stores one upload with runs of one test, and applies its monitors as ingest does. */
export async function storeObserved(store: Store, repository: Repository, told: Told): Promise<TestRow> {
  const id = told.test?.id ?? told.values?.id ?? randomUUID();
  for (;;) {
    const stored = await tryStore(store, repository, { ...told, id });
    if (stored !== undefined) return stored;
  }
}

/** Undefined: another writer committed first. */
async function tryStore(
  store: Store,
  repository: Repository,
  told: Told & { readonly id: string },
): Promise<TestRow | undefined> {
  const { id, at, branch = 'main', prNumber = null, path = null } = told;
  const stored = currentTestSettings(repository, await store.testSettings.find(repository.id));
  const { seq, nextTestNo, known } = await store.testIngest.load(repository.id, [id]);
  const before = known[0];
  const runs = told.runs.flatMap((run, index) =>
    run === 'RETRIED'
      ? [aRun('FAILURE', at + index, { rerunOf: 'SUCCESS', path }), aRun('SUCCESS', at + index, { path })]
      : [aRun(run, at + index, { path })],
  );
  const upload = anUpload({ id: randomUUID(), branch, sha: 'c'.repeat(40), prNumber });
  const memory = before && decodeState(before.memory.state);
  const { state, events } = observe(memory, runs, scopeOf(upload, stored.monitors, at));
  const test = before?.test ?? aTest(repository.id, { id, no: nextTestNo, firstSeenAt: at, ...told.values });
  const recorded = recordTest(state, {
    override: overrideOf(test),
    settings: quarantineSettingsOf(stored.settings),
    quarantinedAt: test.quarantinedAt,
    at,
    actor: null,
  });
  const row: TestRow = { ...test, ...recorded.record };
  const isQuarantined = test.quarantinedAt !== null;
  const ran = runs.map(({ conclusion, startedAt, durationMs }) => ({
    testNo: row.no,
    startedAt,
    conclusion,
    durationMs,
    isQuarantined,
  }));
  const all = recorded.event === undefined ? events : [...events, recorded.event];
  const seqAfter = await store.testIngest.commit(
    {
      repositoryId: repository.id,
      expectedSeq: seq,
      tests: [row],
      memories: [
        {
          testNo: row.no,
          seq: seq + 1,
          state: encodeState(state),
          nextCheckAt: nextCheckOf(row, state),
          settingsVersion: stored.version,
          lastRunAt: at,
        },
      ],
      batch: {
        facts: { ...upload, uploadId: upload.id, jobName: 'unit', jobUrl: 'https://ci.test/1' },
        runs: ran,
      },
      failures: ran
        .filter(({ conclusion }) => conclusion === 'FAILURE')
        .map(({ testNo, startedAt }) => ({
          testId: id,
          testNo,
          startedAt,
          isBlocking: false,
          isQuarantined,
          path: null,
          group: 'g',
          summary: 'expected 2',
          text: 'expected 2\n  at math.test.ts:3',
        })),
      events: all.map((event) => eventRowOf(id, event)),
    },
    at,
  );
  return seqAfter === undefined ? undefined : row;
}
