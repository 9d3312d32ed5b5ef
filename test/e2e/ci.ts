// Stands in for a team's CI: finds the queue's runs, and reports on them.
import assert from 'node:assert/strict';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { until } from './harness.ts';
import type { TestQueue } from './test-queue.ts';

/** Building takes a few git processes, and other tests load the machine. */
const PATIENCE_MS = 20_000;

export interface Ci {
  /** Everything in progress, in queue order. */
  runs(): Promise<readonly CandidateView[]>;
  /** Waits for this many runs, each with its commit. Format: `pull requests on pull requests`, such as `3 on 1,2`. */
  untilRuns(expected: readonly string[]): Promise<readonly CandidateView[]>;
  /** The run that tests the pull request, once its commit is built. */
  runOf(prNumber: number): Promise<CandidateView>;
  /** The run that repeats this one. */
  untilOtherRun(prNumber: number, testRunId: string): Promise<CandidateView>;
  read(testRunId: string): Promise<CandidateView>;
  report(run: CandidateView, conclusion: string, more?: object): Promise<CandidateView>;
  pass(prNumber: number): Promise<CandidateView>;
  fail(prNumber: number): Promise<CandidateView>;
  untilState(prNumber: number, state: string): Promise<EntryView>;
  /** `STATE REASON` of every step, oldest first. */
  storyOf(prNumber: number): Promise<readonly string[]>;
  /** Subjects of the commits along the target branch's first parents, oldest first. */
  landed(): Promise<readonly string[]>;
}

export function createCi(queue: Pick<TestQueue, 'api' | 'ref' | 'repo' | 'git' | 'get'>): Ci {
  const { api, ref, repo, git } = queue;
  const runs = async () =>
    (await api.ok<{ testRuns: readonly CandidateView[] }>('getMergeQueueTestingDetails', ref)).testRuns;
  const report = (run: CandidateView, conclusion: string, more: object = {}) =>
    api.ok<CandidateView>('reportCheck', {
      repo,
      testRunId: run.testRunId,
      name: 'test',
      status: 'COMPLETED',
      conclusion,
      ...more,
    });
  const runOf = (prNumber: number, but = '') =>
    until(`#${prNumber} has a run with a commit`, PATIENCE_MS, async () =>
      (await runs()).find(
        (run) => run.testBranchSha !== '' && testedBy(run).includes(prNumber) && run.testRunId !== but,
      ),
    );
  return {
    runs,
    runOf: (prNumber) => runOf(prNumber),
    untilOtherRun: runOf,
    report,
    untilRuns: async (expected) => {
      let seen: readonly CandidateView[] = [];
      const areThere = async () => {
        seen = await runs();
        const isBuilt = seen.every((run) => run.testBranchSha !== '' && run.requiredStatusesSource !== undefined);
        return isBuilt && seen.map(formatRun).join('; ') === expected.join('; ') ? seen : undefined;
      };
      return until('the runs are as expected', PATIENCE_MS, areThere).catch(() => {
        assert.deepEqual(seen.map(formatRun), expected);
        throw new Error(`not all runs are built: ${JSON.stringify(seen)}`);
      });
    },
    read: async (testRunId) => {
      const question = { ...ref, testRunId };
      const { version: _, ...run } = await api.ok<CandidateView & { version?: string }>(
        'getMergeQueueTestingDetails',
        question,
      );
      return run;
    },
    pass: async (prNumber) => report(await runOf(prNumber), 'SUCCESS'),
    fail: async (prNumber) => report(await runOf(prNumber), 'FAILURE'),
    untilState: async (prNumber, state) => {
      let seen: EntryView | undefined;
      const isThere = async () => {
        seen = await queue.get(prNumber, { includeExplanation: true, includeTimeline: true });
        return seen.state === state ? seen : undefined;
      };
      return until(`#${prNumber} is ${state}`, PATIENCE_MS, isThere).catch((error: Error) => {
        throw new Error(`${error.message}: ${seen?.explanation?.summary}`);
      });
    },
    storyOf: async (prNumber) => {
      const { timeline = [] } = await queue.get(prNumber, { includeTimeline: true });
      return timeline.toReversed().map(({ state, reason }) => `${state} ${reason}`);
    },
    landed: async () => (await git.git(['log', '--first-parent', '--reverse', '--format=%s', 'main'])).split('\n'),
  };
}

/** As `3 on 1,2`; a run of the head itself tests nothing. */
export function formatRun(run: CandidateView): string {
  const on = run.dependentPrs.length === 0 ? '' : ` on ${run.dependentPrs.join(',')}`;
  return `${testedBy(run).join('+')}${on}`;
}

function testedBy({ testedPullRequests }: CandidateView): number[] {
  return testedPullRequests.map(({ prNumber }) => prNumber);
}

/** Compares an entry's landing with the repository. */
export async function assertLanded(queue: TestQueue, entry: EntryView): Promise<void> {
  const { landed } = entry;
  assert.ok(landed, `#${entry.prNumber} says how it landed`);
  const treeOf = (sha: string) => queue.git.git(['rev-parse', `${sha}^{tree}`]);
  const history = (await queue.git.git(['rev-list', '--first-parent', 'main'])).split('\n');
  assert.ok(history.includes(landed.sha) && history.includes(landed.pushedSha) && history.includes(landed.base));
  assert.equal(landed.tree, await treeOf(landed.sha));
  assert.equal(landed.pushedTree, await treeOf(landed.pushedSha));
  assert.equal(entry.verifiedByTestRun, landed.testRunId);
  if (landed.kind === 'COMPOSED') return;
  assert.equal(landed.pushedTree, landed.testedTree);
  if (landed.kind === 'IDENTICAL') assert.equal(landed.pushedSha, landed.testedSha);
}
