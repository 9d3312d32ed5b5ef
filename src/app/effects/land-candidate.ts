import { landingEntries } from '../../engine/facts/evolve-landing.ts';
import { type Candidate, compositionOf } from '../../engine/model/candidate.ts';
import type { Effect, LandCandidate } from '../../engine/model/effect.ts';
import type { EntryRefused, ReviewLost, LandingStop as Stop } from '../../engine/model/event.ts';
import { findCandidate, type Queue, toMember } from '../../engine/model/queue.ts';
import { composedWithOf } from '../../engine/model/roster.ts';
import type { LandAnswer, LandingStop, LandRequest } from '../../forge/forge.ts';
import {
  DONE,
  type EffectAnswer,
  type EffectRun,
  type LongEffect,
  placeOf,
  toCandidateEntries,
  waitForHooks,
} from './effect-run.ts';
import { landRetargeted } from './land-retargeted.ts';

/** A paused queue is read again after this. */
const PAUSED_DELAY_MS = 1_000;

/**
 * The one irreversible effect. It reads the queue last of all: a cancelled landing, or one of a paused or parked queue,
 * does not happen. The forge moves the target branch from exactly the expected head, or says why not. After a crash the
 * same request has the same answer, because the forge reads the branch before it acts.
 */
export async function landCandidate(run: EffectRun, effect: LandCandidate): Promise<EffectAnswer | LongEffect> {
  const { app, found } = run;
  const { queue } = found;
  const candidate = findCandidate(queue, effect.candidate);
  if (candidate === undefined || !isStillAsked(queue, effect)) return DONE;
  if (candidate.state !== 'passed' || candidate.commit === undefined) return DONE;
  const entries = await toCandidateEntries(
    run,
    landingEntries(queue, candidate).map(toMember),
    compositionOf(candidate),
  );
  const { sha, tree } = candidate.commit;
  const request = {
    ...placeOf(run, candidate.number),
    expectedHead: effect.expectedHead,
    base: candidate.base.sha,
    sha,
    tree,
    entries,
    composedWith: composedWithOf(queue, candidate),
    mergeMethod: candidate.mergeMethod,
    landingMode: queue.landing?.landingMode ?? 'PUSH',
    plannedAt: candidate.plannedAt,
  };
  const now = await begin(run, effect);
  if (now === undefined || !isStillAsked(now, effect)) return DONE;
  const isCalledOff = isTakenBack(now, candidate);
  const isStill = now.state === 'PAUSED' || now.parked !== undefined;
  // A requested removal does not wait for the queue: a cancelled landing is only searched for at the forge.
  if (isStill && !isCalledOff) return { kind: 'later', delayMs: PAUSED_DELAY_MS };
  const land = async (more: Pick<LandRequest, 'isStillWanted' | 'signal'>): Promise<EffectAnswer> => {
    const landOnce = () => run.forge.landCandidate({ ...request, isCalledOff, ...more });
    const answer = await landRetargeted(run, candidate, { land: landOnce, isCalledOff });
    return { kind: 'event', event: toEvent(candidate, effect, answer) };
  };
  if (request.landingMode === 'PUSH') return waitForHooks(run, () => land({}));
  // A merge API lands entries one by one, and is retried for minutes.
  const isStillWanted = async () => {
    const loaded = await app.queues.find(found.id);
    return loaded === undefined || !isTakenBack(loaded.queue, candidate);
  };
  return { kind: 'long_running', run: (signal) => land({ isStillWanted, signal }) };
}

/** A requested removal does not wait for the block's end: the landing counts as cancelled, but may have happened. */
export function answerWhereBlocked(queue: Queue, effect: Effect): EffectAnswer | undefined {
  if (effect.kind !== 'land_candidate') return undefined;
  const candidate = isStillAsked(queue, effect) ? findCandidate(queue, effect.candidate) : undefined;
  if (candidate === undefined || !isTakenBack(queue, candidate)) return undefined;
  return { kind: 'event', event: toEvent(candidate, effect, { kind: 'called_off' }) };
}

function isTakenBack(queue: Queue, candidate: Candidate): boolean {
  return landingEntries(queue, candidate).some(({ removalAskedBy }) => removalAskedBy !== undefined);
}

/** Marks the landing as begun, so that it cannot be cancelled any more, and reads the queue a last time. */
async function begin({ app, found }: EffectRun, effect: LandCandidate): Promise<Queue | undefined> {
  const { candidate } = effect;
  const begun = await app.queues.run(found.id, (queue) =>
    isStillAsked(queue, effect) && queue.landing?.isBegun === false
      ? { kind: 'landing_begun', at: app.clock.now(), candidate }
      : undefined,
  );
  return begun?.isStored ? begun.queue : (await app.queues.find(found.id))?.queue;
}

function isStillAsked({ landing }: Queue, { candidate, expectedHead }: LandCandidate): boolean {
  return landing?.candidate === candidate && landing.expectedHead === expectedHead;
}

function toEvent(candidate: Candidate, { expectedHead: base }: LandCandidate, answer: LandAnswer | ReviewLost) {
  const { number } = candidate;
  const refused = { kind: 'landing_refused' as const, candidate: number };
  switch (answer.kind) {
    case 'landed': {
      const { stopped, ...rest } = answer;
      const landed = { ...rest, kind: 'candidate_landed' as const, candidate: number, base };
      return stopped === undefined ? landed : { ...landed, stopped: toStop(candidate, stopped) };
    }
    case 'target_moved':
      return { ...refused, problem: answer };
    case 'called_off':
    case 'not_composable':
      return { ...refused, problem: { kind: answer.kind } };
    case 'review_lost':
      return { ...refused, problem: answer };
    case 'pull_request_moved':
    case 'refused':
      return { ...refused, problem: toRefusal(candidate, answer) };
  }
}

function toStop(candidate: Candidate, stopped: LandingStop): Stop {
  return stopped.kind === 'refused' || stopped.kind === 'pull_request_moved' ? toRefusal(candidate, stopped) : stopped;
}

// SPEC G24
function toRefusal(
  { purpose }: Candidate,
  refusal: Extract<LandingStop, { kind: 'refused' | 'pull_request_moved' }>,
): EntryRefused {
  const { prNumber } = refusal;
  if (refusal.kind === 'pull_request_moved') {
    return { kind: 'entry_refused', prNumber, reason: 'PR_UPDATED_AT_MERGE_TIME' };
  }
  const { reason, detail } = refusal;
  const isDirect = purpose.kind === 'direct' && reason === 'GITHUB_API_MERGE_PR_FAILED';
  const code = isDirect ? 'GITHUB_API_DIRECT_MERGE_PR_FAILED' : reason;
  return { kind: 'entry_refused', prNumber, reason: code, detail };
}
