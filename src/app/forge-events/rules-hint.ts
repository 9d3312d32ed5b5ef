import { requestRepositoryPoll } from '../core/request-poll.ts';
import type { HintOutcome, HintRun } from './hint-run.ts';

/** Branch protection or permissions changed: the cached rules are dropped, and everything is polled again. */
export async function readRules({ app, hosting, repository }: HintRun): Promise<HintOutcome> {
  hosting.forget(repository.owner, repository.name);
  await requestRepositoryPoll(app, repository);
  return 'done';
}
