import { nextWakeAt } from '../../engine/wake.ts';
import type { Instant } from '../../lib/clock.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import { loadQueues } from '../queue/list-queues.ts';

/** Runs also without a timer: another server may have set one and died. */
const SWEEP_EVERY_MS = 30_000;

/** Wakes queues when time alone changes something: a timeout, the end of a hold, a full batch wait. */
export class Timers {
  readonly #app: App;
  readonly #timers = new Map<QueueId, { readonly at: Instant; readonly cancel: () => void }>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #sweeps: PeriodicTask;
  #isStopped = false;

  constructor(app: App) {
    this.#app = app;
    const failure = 'could not poll for due queues';
    const round = () => this.#sweep();
    this.#sweeps = new PeriodicTask(app, { firstMs: 0, everyMs: SWEEP_EVERY_MS, failure, round });
  }

  start(): void {
    this.#app.queues.listen((loaded) => this.#arm(loaded));
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { cancel } of this.#timers.values()) cancel();
    await this.#sweeps.stop();
    await Promise.all(this.#underWay);
  }

  async #sweep(): Promise<void> {
    const repositories = await this.#app.store.repositories.listAll();
    for (const loaded of await loadQueues(this.#app, repositories)) {
      this.#arm(loaded);
      // Timers that fell due while no server ran are in the past and not armed any more.
      if (loaded.queue.entries.size > 0) await this.#wake(loaded.id);
    }
  }

  #arm({ id, queue }: Pick<LoadedQueue, 'id' | 'queue'>): void {
    const now = this.#app.clock.now();
    const at = nextWakeAt(queue, now);
    const known = this.#timers.get(id);
    if (this.#isStopped || known?.at === at) return;
    known?.cancel();
    this.#timers.delete(id);
    if (at === undefined) return;
    const cancel = this.#app.clock.after(Math.max(0, at - now), () => this.#track(this.#wake(id)));
    this.#timers.set(id, { at, cancel });
  }

  async #wake(queueId: QueueId): Promise<void> {
    const { queues, clock, log } = this.#app;
    this.#timers.get(queueId)?.cancel();
    this.#timers.delete(queueId);
    try {
      const result = await queues.run(queueId, () => ({ kind: 'time_passed', at: clock.now() }));
      // A queue that stays due waits for something other than time: the next sweep wakes it.
      if (result?.isStored === false && !this.#isDue(result.queue)) this.#arm({ id: queueId, queue: result.queue });
    } catch (error) {
      // The next sweep wakes it.
      log.warn({ err: error, queue: queueId }, 'could not wake a queue');
    }
  }

  #isDue(queue: LoadedQueue['queue']): boolean {
    const now = this.#app.clock.now();
    return (nextWakeAt(queue, now) ?? Number.POSITIVE_INFINITY) <= now;
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}
