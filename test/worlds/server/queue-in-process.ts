import type { ServerDeps } from '../../../src/http/core/server-deps.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeForge } from '../../fake/fake-forge.ts';
import { FakeRepository } from '../../fake/fake-repository.ts';
import { createInProcess, type InProcess } from './in-process.ts';

export interface QueueInProcess extends InProcess {
  readonly forgeRepository: FakeRepository;
  readonly forge: FakeForge;
  /** Names the queue in a body. */
  readonly ref: { readonly repo: InProcess['scope']['repo']; readonly targetBranch: string };
  /** Opens pull requests; returns their numbers. */
  open(count: number): number[];
}

/** A server in this process with a queue for `main` on a fake forge. Nothing tests or lands what is submitted. */
export async function createQueueInProcess(
  options: Partial<ServerDeps> & { readonly store?: Store } = {},
): Promise<QueueInProcess> {
  const forgeRepository = new FakeRepository();
  forgeRepository.commit('main', { files: { readme: 'hello' } });
  const forge = new FakeForge(forgeRepository);
  const world = await createInProcess({ ...options, forges: new Map([['local', forge]]) });
  const ref = { repo: world.scope.repo, targetBranch: 'main' };
  await world.ok('/v1/createQueue', { ...ref, confirmFailures: 'NEVER' });
  const openOne = (_: unknown, index: number) =>
    forgeRepository.openPullRequest({ base: 'main', files: { [`file${index}`]: 'x' }, message: 'A change' }).number;
  return { ...world, forgeRepository, forge, ref, open: (count) => Array.from({ length: count }, openOne) };
}
