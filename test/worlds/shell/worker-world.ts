import type { App } from '../../../src/app/core/app.ts';
import { createEffectWorker } from '../../../src/app/effects/effect-worker.ts';
import type { RunnerCheck } from '../../../src/checks/check.ts';
import type { CandidateNumber } from '../../../src/engine/model/candidate.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import { findCandidate } from '../../../src/engine/model/queue.ts';
import type { BuildRequest } from '../../../src/forge/forge.ts';
import type { QueueCommit } from '../../../src/storage/queues.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import { FakeForge } from '../../fake/fake-forge.ts';
import { FakeJobs } from '../../fake/fake-jobs.ts';
import { noIngest } from '../../fake/no-ingest.ts';
import { aPullRequest } from '../../helpers/a-pull-request.ts';
import { ManualClock } from './manual-clock.ts';
import { ShellWorld } from './shell-world.ts';

export const FIRST = 1 as CandidateNumber;

/** A fake forge whose builds can wait, or fail by a bug. */
class SlowForge extends FakeForge {
  builds = 0;
  gate: Promise<void> | undefined;
  bug: Error | undefined;

  override async buildCandidate(request: BuildRequest) {
    this.builds += 1;
    await this.gate;
    if (this.bug !== undefined) throw this.bug;
    return super.buildCandidate(request);
  }
}

/** A server with a worker that is not started. The test moves the clock. */
export class WorkerWorld extends ShellWorld {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  readonly forge = new SlowForge(this.repository);
  readonly jobs = new FakeJobs();
  /** Commits are stored, but their answers wait for this. */
  answers: Promise<void> | undefined;
  readonly resultListeners = new Set<Parameters<App['ingest']['onCheckResults']>[0]>();
  ingestWakes = 0;
  readonly app = this.createServer({
    store: {
      ...this.store,
      queues: { ...this.store.queues, commit: (each) => this.#commit(each) },
      effects: { ...this.store.effects },
    },
    ingest: {
      ...noIngest,
      wake: () => {
        this.ingestWakes += 1;
      },
      onCheckResults: (listener) => {
        this.resultListeners.add(listener);
        return () => this.resultListeners.delete(listener);
      },
    },
    checkRunner: this.jobs,
  });
  readonly worker = createEffectWorker(this.app, 'this one');

  static async create(checks: readonly RunnerCheck[] = [], junit: readonly string[] = []): Promise<WorkerWorld> {
    const world = new WorkerWorld();
    if (checks.length === 0) world.forge.protection = ['ci'];
    return world.begin({}, { checks, junit });
  }

  async #commit(each: QueueCommit) {
    const answer = await this.store.queues.commit(each);
    await this.answers;
    return answer;
  }

  async submit(queueId = this.queueId, baseBranch = 'main', base = 'main'): Promise<PrNumber> {
    const { number, headSha } = this.repository.openPullRequest({ base, files: { [`f${Math.random()}`]: '' } });
    await this.submitFacts(aPullRequest(number, { headSha, baseBranch }), {}, queueId);
    return number;
  }

  async stateOf(candidate: CandidateNumber): Promise<string | undefined> {
    const found = await this.app.queues.find(this.queueId);
    return found && findCandidate(found.queue, candidate)?.state;
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
