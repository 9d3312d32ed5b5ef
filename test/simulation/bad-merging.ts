import type { MergeAnswer } from '../../src/forge/candidate/land-one-by-one.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { MergeHooks } from '../fake/fake-merge-api.ts';
import type { FakeRepository } from '../fake/fake-repository.ts';
import { BRANCH } from './clients.ts';
import type { Coverage } from './coverage.ts';
import type { SimWorld } from './sim-world.ts';

interface Parts {
  readonly repository: FakeRepository;
  readonly random: Prng;
  readonly world: SimWorld;
  readonly coverage: Coverage;
}

const UNCLEAR: MergeAnswer = { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail: 'Simulated.' };
const REFUSED: MergeAnswer = { kind: 'refused', reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail: 'Simulated.' };
const MOVED: MergeAnswer = { kind: 'head_moved', detail: 'Simulated.' };

/** A merge API that fails before or after the merge, and pushes to the target branch in between. */
export function createBadMerging({ repository, random, world, coverage }: Parts): MergeHooks {
  const happens = (what: string, rate: number) => {
    const isDrawn = random.chance(rate) && !world.isCalm;
    if (isDrawn) coverage.note(`merging.${what}`);
    return isDrawn;
  };
  const push = () =>
    void repository.commit(BRANCH, { files: { [`past-${random.between(1, 1_000)}`]: 'the queue' }, author: 'Eve' });
  const breakOff = (): never => {
    throw new Fault('FORGE_UNAVAILABLE', 'Simulated: the merge API is gone.');
  };
  return {
    before: () => {
      if (happens('foreign push before', 0.02)) push();
      if (happens('broken off before', 0.02)) breakOff();
      if (happens('refused', 0.02)) return REFUSED;
      if (happens('said to have moved', 0.01)) return MOVED;
      return happens('unclear before', 0.05) ? UNCLEAR : undefined;
    },
    after: () => {
      if (happens('foreign push after', 0.02)) push();
      if (happens('broken off after', 0.04)) breakOff();
      return happens('unclear after', 0.05) ? UNCLEAR : undefined;
    },
  };
}
