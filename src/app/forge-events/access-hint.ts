import { requestRepositoryPoll } from '../core/request-poll.ts';
import { settleIdentity } from '../repositories/settle-identity.ts';
import type { HintOutcome, HintRun } from './hint-run.ts';

/**
 * The repository was renamed, transferred or deleted, another one took its name, or our permissions there changed. Lost
 * access is an outage like any other: the queue keeps everything, and the poller retries until the forge answers.
 */
// SPEC G37
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
