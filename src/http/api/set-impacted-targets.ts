import { setImpactedTargets as set } from '../../app/set-impacted-targets.ts';
import type { Sha } from '../../engine/pull-request.ts';
import { setImpactedTargets } from '../contract/pull-requests.ts';
import { prNumber } from '../parse.ts';
import { route } from '../route.ts';

export const setImpactedTargetsRoute = route(setImpactedTargets, ({ app, caller }, body) =>
  set(app, caller, {
    repo: body.repo,
    targetBranch: body.targetBranch,
    prNumber: prNumber(body.pr.number),
    sha: body.pr.sha?.toLowerCase() as Sha | undefined,
    impactedTargets: typeof body.impactedTargets === 'string' ? 'ALL' : body.impactedTargets,
  }),
);
