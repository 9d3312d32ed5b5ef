import type { StartChecks } from '../../engine/effect.ts';
import { findCandidate } from '../../engine/queue.ts';
import { DONE, type EffectAnswer, type EffectRun, placeOf } from './effect-run.ts';

export async function startChecks(run: EffectRun, effect: StartChecks): Promise<EffectAnswer> {
  const candidate = findCandidate(run.found.queue, effect.candidate);
  if (candidate?.state !== 'testing' || candidate.commit === undefined) return DONE;
  const answer = await run.forge.publishCandidate({
    ...placeOf(run, candidate.number),
    sha: candidate.commit.sha,
    prNumber: candidate.members[0]?.prNumber,
    isBisection: candidate.purpose.kind === 'bisection',
  });
  if (answer.kind === 'published') return DONE;
  const { reason, detail } = answer;
  return { kind: 'event', event: { kind: 'candidate_unbuildable', candidate: candidate.number, reason, detail } };
}
