import type { Candidate } from '../../engine/candidate.ts';
import type { BuildCandidate } from '../../engine/effect.ts';
import { findCandidate } from '../../engine/queue.ts';
import type { BuildAnswer } from '../../forge/forge.ts';
import { DONE, type EffectAnswer, type EffectRun, loadCandidate, placeOf, toCandidateEntries } from './effect-run.ts';

/** The one it is built on is being built itself; that takes as long as a merge, or until git answers again. */
function parentDelayMs(ageMs: number): number {
  return Math.min(5_000, Math.max(25, Math.floor(ageMs / 4)));
}

export async function buildCandidate(run: EffectRun, effect: BuildCandidate): Promise<EffectAnswer> {
  const { queue } = run.found;
  const candidate = findCandidate(queue, effect.candidate);
  if (candidate?.state !== 'building') return DONE;
  const parent = candidate.parent === undefined ? undefined : await loadCandidate(run, candidate.parent);
  if (parent?.state === 'building')
    return { kind: 'later', delayMs: parentDelayMs(run.app.clock.now() - parent.plannedAt) };
  const answer = await run.forge.buildCandidate({
    ...placeOf(run, candidate.number),
    base: candidate.base.sha,
    parent: parent?.commit?.sha,
    beneath: await toCandidateEntries(run, candidate.beneath),
    members: await toCandidateEntries(run, candidate.members),
    mergeMethod: candidate.mergeMethod,
    plannedAt: candidate.plannedAt,
  });
  return { kind: 'event', event: toEvent(candidate, answer) };
}

function toEvent({ number: candidate }: Candidate, answer: BuildAnswer) {
  switch (answer.kind) {
    case 'built': {
      const { sha, tree, sources } = answer;
      return { kind: 'candidate_built' as const, candidate, sha, tree, sources };
    }
    case 'conflict': {
      const { prNumber, culprit } = answer;
      return { kind: 'candidate_conflicted' as const, candidate, prNumber, culprit };
    }
    case 'unbuildable': {
      const { reason, detail } = answer;
      return { kind: 'candidate_unbuildable' as const, candidate, reason, detail };
    }
  }
}
