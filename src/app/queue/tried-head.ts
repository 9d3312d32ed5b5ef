import type { RunnerCheck } from '../../checks/check.ts';
import { CONFIGURATION_FILE, checksOfFile } from '../../checks/file-checks.ts';
import type { HeadTried } from '../../engine/model/event.ts';
import { isSame } from '../../lib/is-same.ts';
import { memo } from '../../lib/memo.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';

interface PassedTry {
  readonly sha: Sha;
  readonly checks: readonly RunnerCheck[];
  readonly ran: HeadTried['ran'];
}

/** The last one of each branch. The queue of the branch, or the registration of the checks, may come after it. */
const triesKnownTo = memo((_app: App) => new Map<string, PassedTry>());

function keyOf({ id }: Repository, branch: string): string {
  return `${id} ${branch}`;
}

export function rememberTry(app: App, repository: Repository, branch: string, passed: PassedTry): void {
  triesKnownTo(app).set(keyOf(repository, branch), passed);
}

/** A try of other checks than those that the queue runs on this head says nothing. */
// SPEC V82
export async function proveTriedHead(app: App, { id, queue, repository }: FoundQueue): Promise<void> {
  const passed = triesKnownTo(app).get(keyOf(repository, queue.branch));
  if (passed === undefined || passed.sha !== queue.head?.sha || queue.head.isProven === true) return;
  const { sha: head, checks, ran } = passed;
  const forge = getForge(app, repository.host);
  const place = toForgeRepository(repository);
  const file = await forge.readFile?.({ repository: place, sha: head, path: CONFIGURATION_FILE });
  if (!isSame(checksOfFile(repository, file), checks)) return;
  const sources = await forge.findRequired?.(place, head);
  if (sources === undefined) return;
  const names = checks.map(({ name }) => name);
  await app.queues.run(id, () => ({ kind: 'head_tried', at: app.clock.now(), head, ran, passed: names, sources }));
}
