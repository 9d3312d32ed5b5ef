import { getCandidateLog as get } from '../../app/queue/get-candidate-log.ts';
import { getCandidateLog } from '../../contract/candidate-log.ts';
import { HttpProblem } from '../core/problem.ts';
import { route } from '../core/route.ts';

export const getCandidateLogRoute = route(getCandidateLog, ({ app, caller }, body) => {
  const { repo, targetBranch, testRunId, check, offset = 0 } = body;
  if ((repo === undefined) !== (targetBranch === undefined)) {
    const missing = repo === undefined ? 'repo' : 'targetBranch';
    const message = 'is required: repo and targetBranch go together';
    throw new HttpProblem('VALIDATION_FAILED', `${missing} ${message}.`, [{ path: `/${missing}`, message }]);
  }
  const queue = repo === undefined || targetBranch === undefined ? undefined : { repo, targetBranch };
  return get(app, caller, { testRunId, queue, check, offset });
});
