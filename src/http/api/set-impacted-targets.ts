import { setImpactedTargets as set, setImpactedTargetsOfFork } from '../../app/queue/set-impacted-targets.ts';
import { setImpactedTargets } from '../../contract/pull-requests.ts';
import type { Sha } from '../../lib/sha.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const setImpactedTargetsRoute = route(setImpactedTargets, ({ app, caller, fork }, body) => {
  const input = {
    repo: body.repo,
    targetBranch: body.targetBranch,
    prNumber: prNumber(body.pr.number),
    sha: body.pr.sha?.toLowerCase() as Sha | undefined,
    impactedTargets: typeof body.impactedTargets === 'string' ? ('ALL' as const) : body.impactedTargets,
  };
  return fork === undefined ? set(app, caller, input) : setImpactedTargetsOfFork(app, fork, input);
});
