// Shared by the tests of bad days: a queue whose checks the test reports, and helpers that read the user-visible texts.
import assert from 'node:assert/strict';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { QueueView } from '../../src/app/queue/queue-view.ts';
import type { RepositoryView } from '../../src/app/repositories/repositories.ts';
import { type TestServer, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import type { TestQueue } from './test-queue.ts';

/** A failed attempt is repeated after some seconds, and other tests load the machine. */
export const PATIENCE_MS = 60_000;

export interface BadDay extends TestQueue {
  /** Waits until the explanation has such a reason, and returns its text. */
  untilReason(prNumber: number, code: string, words?: RegExp): Promise<string>;
  /** Waits until it has landed, and reports passes for all candidates on the way. */
  untilMerged(prNumber: number): Promise<EntryView>;
  alarms(): Promise<readonly string[]>;
}

export function onBadDays(queue: TestQueue): BadDay {
  const { ci } = queue;
  return {
    ...queue,
    untilReason: async (prNumber, code, words = /./) => {
      let seen: EntryView | undefined;
      const look = async () => {
        seen = await queue.get(prNumber, { includeExplanation: true });
        const reasons = seen.explanation?.reasons ?? [];
        return reasons.find((reason) => reason.code === code && words.test(reason.text))?.text;
      };
      return until(`#${prNumber} is ${code}`, PATIENCE_MS, look).catch((error: Error) => {
        throw new Error(`${error.message}: ${seen?.state} ${JSON.stringify(seen?.explanation)}`);
      });
    },
    untilMerged: async (prNumber) => {
      let seen: EntryView | undefined;
      const isRunByServer = await hasChecks(queue);
      const look = async () => {
        if (!isRunByServer) {
          for (const run of await ci.runs()) if (run.testBranchSha !== '') await ci.report(run, 'SUCCESS');
        }
        seen = await queue.get(prNumber, { includeExplanation: true });
        return seen.isCurrentlySubmittedToQueue ? undefined : seen;
      };
      const left = await until(`#${prNumber} has left`, PATIENCE_MS, look).catch((error: Error) => {
        throw new Error(`${error.message}: ${seen?.explanation?.summary}`);
      });
      assert.equal(left.state, 'MERGED', left.explanation?.summary);
      return left;
    },
    alarms: async () => (await queue.api.ok<QueueView>('getQueue', queue.ref)).alarms.map(({ code }) => code),
  };
}

/** If the built-in runner tests the queue, the test must not report. */
async function hasChecks({ api, repo }: TestQueue): Promise<boolean> {
  const { repositories } = await api.ok<{ repositories: readonly RepositoryView[] }>('listRepositories', {});
  return repositories.some((repository) => repository.repo.name === repo.name && repository.checks.length > 0);
}

/** The text that a person reads who asks for the state of a pull request. */
export async function statusOf({ env }: TestServer, { name, ref }: TestQueue, prNumber: number): Promise<string> {
  return (await sluice(['pr', 'status', name, ref.targetBranch, String(prNumber)], { env })).out;
}
