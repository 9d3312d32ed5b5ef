import type { LoadedQueue } from '../../src/app/core/commit-draft.ts';
import { encodeCandidate } from '../../src/app/core/queue-codec.ts';
import type { Candidate, CandidateNumber } from '../../src/engine/model/candidate.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';
import type { TestEnd } from '../../src/policy/engine-run.ts';
import { beginQueue, beginRun, WorkloadWorld } from '../../src/policy/sluice.ts';
import type { CandidateRow, QueueId } from '../../src/storage/queues.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import { adaptive, draw } from './policy-trial.ts';

const PRS = 160;

export interface WatchedQueue {
  readonly loaded: LoadedQueue;
  readonly ended: readonly CandidateRow[];
}

/** A busy queue in the middle of its day, with the candidates that ended. */
export function busyQueue(seed: string, index: number): WatchedQueue {
  const id = `queue-${index}` as QueueId;
  const drawn = draw(seed, { prs: PRS, load: 8, failureRate: 0.08, flakeRate: 0.01, p95Minutes: 20 });
  const workload = { ...drawn, chance: { ...drawn.chance, gitMs: 5_000 } };
  const running = new Map<CandidateNumber, Candidate>();
  const ended: CandidateRow[] = [];
  class World extends WorkloadWorld {
    override beginRun(candidate: Candidate): TestEnd {
      running.set(candidate.number, { ...candidate, testingSince: run.clock.now });
      return super.beginRun(candidate);
    }

    override endRun(number: CandidateNumber, tookMs: number, passed: boolean | undefined): void {
      super.endRun(number, tookMs, passed);
      const at = run.clock.now;
      const result = passed === true ? { pass: { by: 'own_run', at } } : { failure: failureAt(passed, at) };
      const candidate = { ...running.get(number), ...result, endedAt: at } as Candidate;
      ended.push(encodeCandidate(candidate, { queueId: id, version: 1, isLive: false }));
    }
  }
  const settings = { ...DEFAULT_SETTINGS, concurrency: 6, ...adaptive(4) } as QueueSettings;
  const run = beginRun(workload, beginQueue(settings), new World(workload, undefined));
  const until = workload.changes[PRS - 1]?.submittedAt ?? 0;
  while (run.clock.now < until && run.advance());
  return { loaded: { id, repositoryId: 'repository' as RepositoryId, version: 1, queue: run.queue }, ended };
}

function failureAt(passed: boolean | undefined, at: number) {
  return passed === undefined ? undefined : { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', at };
}
