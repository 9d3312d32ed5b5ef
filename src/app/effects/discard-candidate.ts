import type { DiscardCandidate } from '../../engine/effect.ts';
import { DONE, type EffectAnswer, type EffectRun, loadCandidate, placeOf } from './effect-run.ts';

export async function discardCandidate(run: EffectRun, effect: DiscardCandidate): Promise<EffectAnswer> {
  const candidate = await loadCandidate(run, effect.candidate);
  if (candidate === undefined) return DONE;
  await run.forge.discardCandidate({
    ...placeOf(run, candidate.number),
    prNumber: candidate.members[0]?.prNumber,
    isBisection: candidate.purpose.kind === 'bisection',
  });
  return DONE;
}
