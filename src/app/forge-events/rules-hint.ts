import { requestRepositoryPoll } from '../core/request-poll.ts';
import type { HintOutcome, HintRun } from './hint-run.ts';

/** What may be merged, or who may ask for it, has changed: what was learned is forgotten, and everything looked at. */
export async function readRules({ app, hosting, repository }: HintRun): Promise<HintOutcome> {
  hosting.forget(repository.owner, repository.name);
  await requestRepositoryPoll(app, repository);
  return 'done';
}
