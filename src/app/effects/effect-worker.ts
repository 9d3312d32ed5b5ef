import type { Effect } from '../../engine/effect.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { EffectSettlement, StoredEffect } from '../../storage/queues.ts';
import { raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { getForge, toForgeRepository } from '../core/find-queue.ts';
import { delayOf, LEASE_MS, Leases } from '../core/leases.ts';
import { decodeEffect, versionOfEffect } from '../core/queue-codec.ts';
import { WorkPoller } from '../core/work-poller.ts';
import { explainBlockedChecks } from '../repositories/repositories.ts';
import { buildCandidate, reviewRequired } from './build-candidate.ts';
import { discardCandidate } from './discard-candidate.ts';
import type { EffectAnswer, EffectRun, LongEffect } from './effect-run.ts';
import { judgeCheck } from './judge-check.ts';
import { answerWhereBlocked, landCandidate } from './land-candidate.ts';
import { endAlarm, raiseAlarm } from './raise-alarm.ts';
import { readmitEntry } from './readmit-entry.ts';
import { startChecks } from './start-checks.ts';
import { updatePage } from './update-page.ts';

/** Effects that this server runs at once. */
const AT_ONCE = 8;
/** The store may show a new effect before this server's own commit has returned. */
const COMMIT_MS = 5;
const RETRY = { firstMs: 500, capMs: 60_000 };
/**
 * An effect that fails by a bug of ours is parked after this many attempts. Faults of the forge are retried for ever.
 */
const MAX_BUG_ATTEMPTS = 5;
/** About half an hour. A later update writes everything anew, so that giving up one needs no operator. */
const MAX_PAGE_ATTEMPTS = 35;

/**
 * Runs the effects that the engine asked for: claims them with a lease, runs each at least once, and stores the
 * resulting
 * event together with the effect's end. Effects of one stream keep their order; all others run in parallel. Long
 * effects, such as the checks of the built-in runner, occupy no slot.
 */
export class EffectWorker {
  readonly #app: App;
  readonly #holder: string;
  readonly #underWay = new Set<Promise<void>>();
  /** Long effects under way. */
  readonly #longRunning = new Set<Promise<void>>();
  /** Ends an effect of this server early, by the effect's id. */
  readonly #held = new Map<string, AbortController>();
  readonly #poller: WorkPoller;
  readonly #leases: Leases;
  #isStopped = false;

  constructor(app: App, holder: string) {
    this.#app = app;
    this.#holder = holder;
    const { queues } = app.store;
    this.#poller = new WorkPoller(app, {
      what: 'effects',
      claim: () => this.#claim(),
      findNextDueAt: () => queues.findNextEffectDueAt(),
      isBusy: () => this.#underWay.size >= AT_ONCE,
    });
    this.#leases = new Leases(app, {
      endLeases: (of) => queues.endLeases(of),
      renew: (until) => this.#renew(until),
      isAnyHeld: () => this.#held.size > 0,
    });
  }

  start(): void {
    this.#app.queues.listen((_loaded, effects) => {
      if (effects > 0) this.wake();
    });
    void this.#leases.begin(this.#holder).then(() => this.wake());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#leases.stopping();
    for (const stop of this.#held.values()) stop.abort();
    await this.#poller.stop();
    await Promise.all(this.#underWay);
    await Promise.all(this.#longRunning);
    this.#leases.end();
  }

  wake(): void {
    this.#poller.wake();
  }

  async #claim(): Promise<void> {
    const free = AT_ONCE - this.#underWay.size;
    if (free <= 0) return;
    const now = this.#app.clock.now();
    const claim = { holder: this.#holder, now, leaseUntil: now + LEASE_MS, limit: free };
    const effects = await this.#app.store.queues.claimEffects(claim);
    for (const effect of effects) {
      // This server was too late to renew the lease, and has claimed its own effect again: it is still running here.
      if (this.#held.has(effect.id)) continue;
      const run = (this.#isStopped ? this.#release(effect) : this.#run(effect)).finally(() => {
        this.#underWay.delete(run);
        this.wake();
      });
      this.#underWay.add(run);
    }
  }

  /** Claimed while the server stops: another server need not wait for the end of the lease. */
  async #release(effect: StoredEffect): Promise<void> {
    await this.#settle(effect, async () => ({ kind: 'postpone', dueAt: this.#app.clock.now() }));
  }

  async #run(effect: StoredEffect): Promise<void> {
    const stop = new AbortController();
    this.#held.set(effect.id, stop);
    const first = await this.#settle(effect, () => this.#attempt(effect));
    if (first === undefined) {
      this.#held.delete(effect.id);
      return;
    }
    if (this.#isStopped) stop.abort();
    const longRun = this.#settle(effect, async () => this.#conclude(effect, await first.run(stop.signal)))
      .then(() => undefined)
      .finally(() => {
        this.#held.delete(effect.id);
        this.#longRunning.delete(longRun);
        this.wake();
      });
    this.#longRunning.add(longRun);
  }

  /** Stores the outcome. A long effect is returned instead, because it is not settled yet. */
  async #settle(effect: StoredEffect, work: () => Promise<Attempt>): Promise<LongEffect | undefined> {
    try {
      const attempt = await work().catch((error: unknown) => this.#settlementFor(effect, error));
      if (attempt?.kind === 'long_running') return attempt;
      if (attempt !== undefined) await this.#app.store.queues.settleEffect(effect.id, this.#holder, attempt);
      if (attempt?.kind === 'park') await this.#alarmOfParked(effect, attempt.error);
    } catch (error) {
      // The lease runs out, and the effect is tried again.
      this.#app.log.warn({ err: error, effect: effect.id }, 'could not settle an effect');
    }
    return undefined;
  }

  // SPEC C16
  async #attempt(effect: StoredEffect): Promise<Attempt> {
    const app = this.#app;
    const found = await app.queues.find(effect.queueId);
    const repository = found && (await app.directory.findRepositoryById(found.repositoryId));
    if (found === undefined || repository === undefined) return { kind: 'done' };
    // The store already shows the effect, but the queue in memory is not updated yet.
    if (found.version < versionOfEffect(effect)) return { kind: 'postpone', dueAt: app.clock.now() + COMMIT_MS };
    const asked = decodeEffect(effect);
    const blocked = repository.blockedReason === null ? undefined : answerWhereBlocked(found.queue, asked);
    if (blocked !== undefined) return this.#conclude(effect, blocked);
    const forge = getForge(app, repository.host);
    const { checks, junit } = repository;
    const checksBlocked = explainBlockedChecks(app, repository);
    const run = { app, found, forge, repository: toForgeRepository(repository), checks, checksBlocked, junit };
    const answer = await runEffect(run, asked, effect.id);
    return answer.kind === 'long_running' ? answer : this.#conclude(effect, answer);
  }

  async #conclude(effect: StoredEffect, answer: EffectAnswer): Promise<EffectSettlement | undefined> {
    const app = this.#app;
    if (answer.kind === 'done') return { kind: 'done' };
    if (answer.kind === 'later') return { kind: 'postpone', dueAt: app.clock.now() + answer.delayMs };
    const { event } = answer;
    const result = await app.queues.run(effect.queueId, () => ({ ...event, at: app.clock.now() }), {
      doneEffect: effect.id,
    });
    return result?.isStored === true ? undefined : { kind: 'done' };
  }

  async #renew(until: Instant): Promise<void> {
    const ids = [...this.#held.keys()];
    const kept = new Set(await this.#app.store.queues.renewLeases(this.#holder, ids, until));
    // Another server took over a lease that this one was too late to renew.
    for (const id of ids) if (!kept.has(id)) this.#held.get(id)?.abort();
  }

  async #alarmOfParked({ id, queueId, kind, attempts }: StoredEffect, error: string): Promise<void> {
    const found = await this.#app.queues.find(queueId);
    if (found === undefined) return;
    const text = `The queue's work "${kind}" failed ${attempts + 1} times by a bug of Sluice and is not tried again: ${error}. What needs it waits; setting the queue to RUNNING tries it once more.`;
    await raise(this.#app, found, { id: `${id}/parked/${attempts}`, code: 'WORK_PARKED', text });
  }

  // SPEC E21, G49
  #settlementFor(effect: StoredEffect, error: unknown): EffectSettlement {
    const { clock, log } = this.#app;
    // No failure: the next server runs it.
    if (error instanceof Fault && error.code === 'SHUTTING_DOWN') return { kind: 'postpone', dueAt: clock.now() };
    const isBug = !(error instanceof Fault);
    const text = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 2_000);
    log.warn({ err: error, effect: effect.id, kind: effect.kind, attempts: effect.attempts + 1 }, 'an effect failed');
    if (effect.kind === 'update_page' && effect.attempts + 1 >= (isBug ? MAX_BUG_ATTEMPTS : MAX_PAGE_ATTEMPTS)) {
      log.error({ effect: effect.id, error: text }, 'pull request page not updated, giving up');
      return { kind: 'done' };
    }
    if (isBug && effect.attempts + 1 >= MAX_BUG_ATTEMPTS) return { kind: 'park', at: clock.now(), error: text };
    return { kind: 'retry', dueAt: clock.now() + delayOf(effect.id, effect.attempts, RETRY), error: text };
  }
}

/** How to settle an effect. Undefined: it is settled already. */
type Attempt = EffectSettlement | LongEffect | undefined;

function runEffect(run: EffectRun, effect: Effect, id: string): Promise<EffectAnswer | LongEffect> {
  switch (effect.kind) {
    case 'build_candidate':
      return buildCandidate(run, effect);
    case 'start_checks':
      return startChecks(run, effect);
    case 'review_required':
      return reviewRequired(run, effect);
    case 'judge_check':
      return judgeCheck(run, effect);
    case 'discard_candidate':
      return discardCandidate(run, effect);
    case 'land_candidate':
      return landCandidate(run, effect);
    case 'update_page':
      return updatePage(run, effect, id);
    case 'readmit_entry':
      return readmitEntry(run, effect);
    case 'raise_alarm':
      return raiseAlarm(run, effect, id);
    case 'end_alarm':
      return endAlarm(run, effect);
    default:
      return unreachable(effect);
  }
}
