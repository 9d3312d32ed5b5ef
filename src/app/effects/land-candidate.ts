import type { Candidate } from '../../engine/candidate.ts';
import type { Effect, LandCandidate } from '../../engine/effect.ts';
import type { EntryRefused, LandingStop as Stop } from '../../engine/event.ts';
import { landingEntries } from '../../engine/evolve-landing.ts';
import { findCandidate, type Queue, toMember } from '../../engine/queue.ts';
import type { LandAnswer, LandingStop, LandRequest } from '../../forge/forge.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import {
  DONE,
  type EffectAnswer,
  type EffectRun,
  type LongEffect,
  placeOf,
  toCandidateEntries,
  waitForHooks,
} from './effect-run.ts';

/** A queue that was paused meanwhile is looked at again after this. */
const PAUSED_DELAY_MS = 1_000;

/**
 * The one irreversible act. It looks at the queue last of all: a landing that was called off, or a queue that was paused or
 * parked since, is not landed. The forge then moves the target from exactly the head that is expected, or says why not;
 * after a crash the same question has the same answer, because the forge looks at the target before it acts.
 */
export async function landCandidate(run: EffectRun, effect: LandCandidate): Promise<EffectAnswer | LongEffect> {
  const { app, found } = run;
  const { queue } = found;
  const candidate = findCandidate(queue, effect.candidate);
  if (candidate === undefined || !isStillAsked(queue, effect)) return DONE;
  if (candidate.state !== 'passed' || candidate.commit === undefined) return DONE;
  const entries = await toCandidateEntries(run, landingEntries(queue, candidate).map(toMember));
  const { sha, tree } = candidate.commit;
  const request = {
    ...placeOf(run, candidate.number),
    expectedHead: effect.expectedHead,
    base: candidate.base.sha,
    sha,
    tree,
    entries,
    composedWith: candidate.composedWith,
    mergeMethod: candidate.mergeMethod,
    landingMode: queue.landing?.landingMode ?? 'PUSH',
    plannedAt: candidate.plannedAt,
  };
  const now = await begin(run, effect);
  if (now === undefined || !isStillAsked(now, effect)) return DONE;
  const isCalledOff = isTakenBack(now, candidate);
  const isStill = now.state === 'PAUSED' || now.parked !== undefined;
  // Somebody who takes a pull request back does not wait for the queue: what was called off is only looked for.
  if (isStill && !isCalledOff) return { kind: 'later', delayMs: PAUSED_DELAY_MS };
  const land = async (more: Pick<LandRequest, 'isStillWanted' | 'signal'>): Promise<EffectAnswer> => {
    const answer = await run.forge.landCandidate({ ...request, isCalledOff, ...more });
    return { kind: 'event', event: toEvent(candidate, effect, answer) };
  };
  if (request.landingMode === 'PUSH') return waitForHooks(run, () => land({}));
  // A merge API lands one by one, and is tried again for minutes where it fails.
  const isStillWanted = async () => isWanted(await app.queues.find(found.id), candidate);
  return { kind: 'long_running', run: (signal) => land({ isStillWanted, signal }) };
}

/**
 * What is asked of a repository where nothing may be done is asked in vain, for as long as that is so. Whoever takes a pull
 * request back does not wait for it: nobody can say any more whether it had landed there.
 */
export function answerWhereBlocked(queue: Queue, effect: Effect): EffectAnswer | undefined {
  if (effect.kind !== 'land_candidate') return undefined;
  const candidate = isStillAsked(queue, effect) ? findCandidate(queue, effect.candidate) : undefined;
  if (candidate === undefined || !isTakenBack(queue, candidate)) return undefined;
  return { kind: 'event', event: toEvent(candidate, effect, { kind: 'called_off' }) };
}

function isWanted(loaded: LoadedQueue | undefined, candidate: Candidate): boolean {
  return loaded === undefined || !isTakenBack(loaded.queue, candidate);
}

function isTakenBack(queue: Queue, candidate: Candidate): boolean {
  return landingEntries(queue, candidate).some(({ removalAskedBy }) => removalAskedBy !== undefined);
}

/** Says that the landing begins, so that nothing calls it off any more, and looks at the queue a last time. */
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

function toEvent(candidate: Candidate, { expectedHead: base }: LandCandidate, answer: LandAnswer) {
  const { number } = candidate;
  const refused = { kind: 'landing_refused' as const, candidate: number };
  switch (answer.kind) {
    case 'landed': {
      const { how, pushedSha, pushedTree, entries, stopped } = answer;
      const landed = {
        kind: 'candidate_landed' as const,
        candidate: number,
        how,
        base,
        pushedSha,
        pushedTree,
        entries,
      };
      return stopped === undefined ? landed : { ...landed, stopped: toStop(candidate, stopped) };
    }
    case 'target_moved': {
      const { head, isDescendant } = answer;
      return { ...refused, problem: { kind: 'target_moved' as const, head, isDescendant } };
    }
    case 'called_off':
      return { ...refused, problem: { kind: 'called_off' as const } };
    case 'not_composable':
      return { ...refused, problem: { kind: 'not_composable' as const } };
    case 'pull_request_moved':
    case 'refused':
      return { ...refused, problem: toRefusal(candidate, answer) };
  }
}

function toStop(candidate: Candidate, stopped: LandingStop): Stop {
  return stopped.kind === 'refused' || stopped.kind === 'pull_request_moved' ? toRefusal(candidate, stopped) : stopped;
}

/** What one entry fails with. */
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
