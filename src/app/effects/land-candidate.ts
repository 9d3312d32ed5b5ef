import type { Candidate } from '../../engine/candidate.ts';
import type { LandCandidate } from '../../engine/effect.ts';
import { landingEntries } from '../../engine/evolve-landing.ts';
import { findCandidate, type Queue, toMember } from '../../engine/queue.ts';
import type { LandAnswer } from '../../forge/forge.ts';
import { DONE, type EffectAnswer, type EffectRun, placeOf, toCandidateEntries } from './effect-run.ts';

/** A queue that was paused meanwhile is looked at again after this. */
const PAUSED_DELAY_MS = 1_000;

/**
 * The one irreversible act. It looks at the queue last of all: a landing that was called off, or a queue that was paused or
 * parked since, is not landed. The forge then moves the target from exactly the head that is expected, or says why not;
 * after a crash the same question has the same answer, because the forge looks at the target before it acts.
 */
export async function landCandidate(run: EffectRun, effect: LandCandidate): Promise<EffectAnswer> {
  const { queue } = run.found;
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
    plannedAt: candidate.plannedAt,
  };
  const now = await begin(run, effect);
  if (now === undefined || !isStillAsked(now, effect)) return DONE;
  if (now.state === 'PAUSED' || now.parked !== undefined) return { kind: 'later', delayMs: PAUSED_DELAY_MS };
  const isCalledOff = landingEntries(now, candidate).some(({ removalAskedBy }) => removalAskedBy !== undefined);
  const answer = await run.forge.landCandidate({ ...request, isCalledOff });
  return { kind: 'event', event: toEvent(candidate, effect, answer) };
}

/** Says that the landing begins, so that nothing calls it off any more, and looks at the queue a last time. */
async function begin({ app, found }: EffectRun, effect: LandCandidate): Promise<Queue | undefined> {
  const { candidate } = effect;
  const begun = await app.runner.run(found.id, (queue) =>
    isStillAsked(queue, effect) && queue.landing?.isBegun === false
      ? { kind: 'landing_begun', at: app.clock.now(), candidate }
      : undefined,
  );
  return begun?.isStored ? begun.queue : (await app.runner.find(found.id))?.queue;
}

function isStillAsked({ landing }: Queue, { candidate, expectedHead }: LandCandidate): boolean {
  return landing?.candidate === candidate && landing.expectedHead === expectedHead;
}

function toEvent({ number: candidate }: Candidate, { expectedHead: base }: LandCandidate, answer: LandAnswer) {
  const refused = { kind: 'landing_refused' as const, candidate };
  switch (answer.kind) {
    case 'landed': {
      const { how, pushedSha, pushedTree, entries } = answer;
      return { kind: 'candidate_landed' as const, candidate, how, base, pushedSha, pushedTree, entries };
    }
    case 'target_moved': {
      const { head, isDescendant } = answer;
      return { ...refused, problem: { kind: 'target_moved' as const, head, isDescendant } };
    }
    case 'called_off':
      return { ...refused, problem: { kind: 'called_off' as const } };
    case 'not_composable':
      return { ...refused, problem: { kind: 'not_composable' as const } };
    case 'pull_request_moved': {
      const reason = 'PR_UPDATED_AT_MERGE_TIME' as const;
      return { ...refused, problem: { kind: 'entry_refused' as const, prNumber: answer.prNumber, reason } };
    }
    case 'refused': {
      const { prNumber, reason, detail } = answer;
      return { ...refused, problem: { kind: 'entry_refused' as const, prNumber, reason, detail } };
    }
  }
}
