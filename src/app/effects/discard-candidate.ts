import { branchSubjectOf, type Candidate, openChecks } from '../../engine/candidate.ts';
import type { DiscardCandidate } from '../../engine/effect.ts';
import {
  DONE,
  type EffectAnswer,
  type EffectRun,
  type LongEffect,
  loadCandidate,
  placeOf,
  waitForHooks,
} from './effect-run.ts';

export async function discardCandidate(run: EffectRun, effect: DiscardCandidate): Promise<EffectAnswer | LongEffect> {
  const candidate = await loadCandidate(run, effect.candidate);
  if (candidate === undefined) return DONE;
  const unfinished = findUnfinished(candidate);
  return waitForHooks(run, async () => {
    await run.forge.discardCandidate({
      ...placeOf(run, candidate.number),
      ...branchSubjectOf(candidate),
      ...(unfinished === undefined ? {} : { unfinished }),
    });
    return DONE;
  });
}

/** The commit, if CI still runs checks on it: one failure decides a candidate while its other checks continue. */
function findUnfinished(candidate: Candidate) {
  const { state, testingSince, sameTreeAs, commit } = candidate;
  const isShown = testingSince !== undefined && sameTreeAs === undefined;
  return isShown && state !== 'passed' && openChecks(candidate).length > 0 ? commit?.sha : undefined;
}
