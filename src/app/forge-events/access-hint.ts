import { requestRepositoryPoll } from '../core/request-poll.ts';
import { settleIdentity } from '../repositories/settle-identity.ts';
import type { HintOutcome, HintRun } from './hint-run.ts';

/**
 * It was renamed, given to somebody else or deleted, another one has its name, or we may do there other things than
 * before. Where we may do nothing any more, that is an outage like any other: nothing is lost, and looks go on until one
 * is answered again.
 */
export async function checkAccess({ app, hosting, repository }: HintRun): Promise<HintOutcome> {
  hosting.forget(repository.owner, repository.name);
  try {
    await settleIdentity(app, hosting, repository, await hosting.identify(repository));
  } catch (error) {
    app.outages.begin(repository.id, error, app.clock.now());
  }
  await requestRepositoryPoll(app, repository);
  return 'done';
}
