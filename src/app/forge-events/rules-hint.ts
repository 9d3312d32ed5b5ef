import { lookAroundSoon } from '../core/request-poll.ts';
import type { NoticeAnswer, NoticeRun } from './hint-run.ts';

/** What may be merged, or who may ask for it, has changed: what was learned is forgotten, and everything looked at. */
export async function lookAtRules({ app, hosting, repository }: NoticeRun): Promise<NoticeAnswer> {
  hosting.forget(repository.owner, repository.name);
  await lookAroundSoon(app, repository);
  return 'done';
}
