import type { Effect, RaiseAlarm, ReadmitEntry } from '../../engine/model/effect.ts';
import { unreachable } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';
import type { EffectSettlement, StoredEffect } from '../../storage/queues.ts';
import { holdAlarmText } from '../../words/queue.ts';
import { endAlarms, raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { describeMove } from '../core/format-audit.ts';
import { delayOf, LeasedWorker, type LongRun } from '../core/leased-worker.ts';
import { decodeEffect, versionOfEffect } from '../core/queue-codec.ts';
import { collectHeldFailures } from '../queue/entry-run.ts';
import { findTargets } from '../queue/forge-facts.ts';
import { readLandedLine } from '../queue/landed-line.ts';
import { withBelow } from '../queue/read-below.ts';
import { buildCandidate, discardCandidate, reviewRequired } from './build-candidate.ts';
import { computeTargetsOf, reviewLanes } from './compute-targets.ts';
import { DONE, type EffectAnswer, type EffectRun, effectRunIn, findPlace, type LongEffect } from './effect-run.ts';
import { judgeCheck } from './judge-check.ts';
import { answerWhereBlocked, landCandidate } from './land-candidate.ts';
import { startChecks } from './start-checks.ts';
import { updatePage } from './update-page.ts';

const AT_ONCE = 8;
/** The store may show a new effect before this server's own commit has returned. */
const COMMIT_MS = 5;
const RETRY = { firstMs: 500, capMs: 60_000 };
/** An effect that fails by a bug of ours is then parked. Faults of the forge are retried for ever. */
const MAX_BUG_ATTEMPTS = 5;
/** About half an hour. A later update writes everything anew, so that giving up one needs no operator. */
const MAX_PAGE_ATTEMPTS = 35;

/** Effects of one stream keep their order, all others run in parallel. Long effects occupy no slot. */
export function createEffectWorker(app: App, holder: string): EffectWorker {
  return new LeasedWorker<StoredEffect, EffectSettlement>(app, holder, {
    name: 'effect',
    store: app.store.effects,
    listen: (wake) =>
      app.queues.listen((_loaded, { effects }) => {
        if (effects > 0) wake();
      }),
    slots: () => AT_ONCE,
    idOf: ({ id }) => id,
    run: (effect) => attempt(app, effect),
    settlementFor: (effect, error) => settlementFor(app, effect, error),
    onSettled: async (effect, settlement) => {
      if (settlement.kind === 'park') await raiseParked(app, effect, settlement.error);
    },
  });
}

export type EffectWorker = LeasedWorker<StoredEffect, EffectSettlement>;

/** How to settle an effect. Undefined: it is settled already. */
type Settled = EffectSettlement | undefined;

// SPEC C16
async function attempt(app: App, effect: StoredEffect): Promise<Settled | LongRun<Settled>> {
  const found = await findPlace(app, effect.queueId);
  if (found === undefined) return { kind: 'done' };
  // The store already shows the effect, but the queue in memory is not updated yet.
  if (found.version < versionOfEffect(effect)) return { kind: 'postpone', dueAt: app.clock.now() + COMMIT_MS };
  const asked = decodeEffect(effect);
  const blocked = found.repository.blockedReason === null ? undefined : answerWhereBlocked(found.queue, asked);
  if (blocked !== undefined) return conclude(app, effect, blocked);
  const answer = await runEffect(effectRunIn(app, found), asked, effect.id);
  if (answer.kind !== 'long_running') return conclude(app, effect, answer);
  return { kind: 'long_running', run: async (stop) => conclude(app, effect, await answer.run(stop)) };
}

async function conclude(app: App, effect: StoredEffect, answer: EffectAnswer): Promise<Settled> {
  if (answer.kind === 'done') return { kind: 'done' };
  if (answer.kind === 'later') return { kind: 'postpone', dueAt: app.clock.now() + answer.delayMs };
  const { event } = answer;
  const result = await app.queues.run(effect.queueId, () => ({ ...event, at: app.clock.now() }), {
    doneEffect: effect.id,
  });
  return result?.isStored === true ? undefined : { kind: 'done' };
}

async function raiseParked(app: App, { id, queueId, kind, attempts }: StoredEffect, error: string): Promise<void> {
  const found = await app.queues.find(queueId);
  if (found === undefined) return;
  const text = `The queue's work "${kind}" failed ${attempts + 1} times by a bug of Sluice and is not tried again: ${error}. What needs it waits; setting the queue to RUNNING tries it once more.`;
  await raise(app, found, { id: `${id}/parked/${attempts}`, code: 'WORK_PARKED', text });
}

// SPEC E21, G49
function settlementFor({ clock, log }: App, effect: StoredEffect, error: unknown): EffectSettlement {
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
function runEffect(run: EffectRun, effect: Effect, id: string): Promise<EffectAnswer | LongEffect> {
  switch (effect.kind) {
    case 'build_candidate':
      return buildCandidate(run, effect);
    case 'start_checks':
      return startChecks(run, effect);
    case 'review_required':
      return reviewRequired(run, effect);
    case 'judge_check':
      return Promise.resolve({ kind: 'long_running', run: (stop) => judgeCheck(run, effect, stop) });
    case 'discard_candidate':
      return discardCandidate(run, effect);
    case 'land_candidate':
      return landCandidate(run, effect);
    case 'update_page':
      return updatePage(run, effect, id);
    case 'readmit_entry':
      return readmitEntry(run, effect);
    case 'compute_targets':
      return computeTargetsOf(run, effect);
    case 'review_lanes':
      return reviewLanes(run);
    case 'read_line':
      return readLine(run);
    case 'raise_alarm':
      return raiseAlarm(run, effect, id);
    case 'end_alarm':
      return endAlarms(run.app, run.found, effect.code).then(() => DONE);
    default:
      return unreachable(effect);
  }
}

/** `id` is that of the effect: a repeated effect raises one alarm. */
export async function raiseAlarm(run: EffectRun, effect: RaiseAlarm, id: string): Promise<EffectAnswer> {
  const { app, found, forge, repository } = run;
  const { code, move, cause, text: said = '' } = effect;
  const why = cause === undefined ? said : holdAlarmText(found.queue, cause, await collectHeldFailures(app, found));
  const details = move === undefined ? undefined : await describeMove(forge, { repository, ...move });
  const text = details === undefined ? why : `${why} ${details}`;
  await raise(app, found, { id, code, text });
  return DONE;
}

/** Without a known landing there is nothing to search. */
async function readLine({ app, found }: EffectRun): Promise<EffectAnswer> {
  const { head, hold } = found.queue;
  const steps = head === undefined || hold === undefined ? undefined : await readLandedLine(app, found, head.sha);
  return steps === undefined ? DONE : { kind: 'event', event: { kind: 'line_read', steps } };
}

/** Reads a removed pull request as it is now: the queue takes it back only if it did not change. */
async function readmitEntry(
  { app, found, forge, repository }: EffectRun,
  { prNumber, submission }: ReadmitEntry,
): Promise<EffectAnswer> {
  const removed = found.queue.returning.find(({ entry }) => entry.submission === submission);
  if (removed === undefined) return DONE;
  const read = await forge.findPullRequest({ repository, number: prNumber, targetBranch: found.queue.branch });
  const pr = read && (await withBelow(app, found, read, removed.entry));
  const targets = pr === undefined ? undefined : await findTargets(app, found.id, { prNumber, sha: pr.headSha });
  return { kind: 'event', event: { kind: 'removed_pull_request_observed', prNumber, submission, pr, targets } };
}
