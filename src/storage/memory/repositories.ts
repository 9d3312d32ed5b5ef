import { assert } from '../../lib/assert.ts';
import type { Repository, RepositoryRef, RepositoryStore } from '../repositories.ts';
import { inSmallLetters } from '../small-letters.ts';
import { removeAlarms } from './alarms.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState } from './state.ts';

export function createMemoryRepositories(state: MemoryState): RepositoryStore {
  const { repositories } = state;
  const find = (organizationId: string, ref: RepositoryRef) =>
    repositories
      .values()
      .find((repository) => repository.organizationId === organizationId && isSameRef(repository, ref));
  const sorted = () => [...repositories.values()].sort(compareRepositories);
  return {
    save: async (repository) => save(state, repository, find(repository.organizationId, repository)),
    ensure: async (repository) => find(repository.organizationId, repository) ?? save(state, repository, undefined),
    find: async (organizationId, ref) => find(organizationId, ref),
    findSpelled: async (organizationId, ref) =>
      [...repositories.values()]
        .filter((repository) => repository.organizationId === organizationId)
        .filter((repository) => isSameRef(inSmallLetters(repository), inSmallLetters(ref)))
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id))[0],
    list: async (organizationId) => sorted().filter((repository) => repository.organizationId === organizationId),
    listAll: async () => sorted(),
    async rename(id, ref, at) {
      const { host, owner, name } = frozenCopy(ref);
      const repository = repositories.get(id);
      if (repository === undefined) return 'gone';
      if ((find(repository.organizationId, ref)?.id ?? id) !== id) return 'taken';
      repositories.set(id, Object.freeze({ ...repository, host, owner, name, updatedAt: at }));
      return 'renamed';
    },
    async identify(id, forgeId) {
      const repository = repositories.get(id);
      if (repository?.forgeId === null) repositories.set(id, Object.freeze({ ...repository, forgeId }));
    },
    async bar(id, barred) {
      const repository = repositories.get(id);
      if (repository !== undefined) repositories.set(id, Object.freeze({ ...repository, barred }));
    },
    async remove(id) {
      const queues = [...state.queues.values()].filter((queue) => queue.row.repositoryId === id);
      if (queues.some((queue) => !queue.isDeleted)) return 'has_queues';
      for (const queue of queues) {
        for (const candidate of queue.candidates.values()) state.candidates.delete(candidate.id);
        removeAlarms(state, queue.row.id);
        state.queues.delete(queue.row.id);
      }
      const parts = [state.tests, state.uploadNumbers, state.leases, state.testSettings, state.pullRequestNotes];
      for (const part of parts) part.delete(id);
      for (const { row } of [...state.uploads.values()]) if (row.repositoryId === id) state.uploads.delete(row.id);
      repositories.delete(id);
      return 'removed';
    },
  };
}

function save(state: MemoryState, repository: Repository, before: Repository | undefined): Repository {
  const kept = frozenCopy(repository);
  assert(state.organizations.has(kept.organizationId), `there is no organization ${kept.organizationId}`);
  assert(before !== undefined || !state.repositories.has(kept.id), `there is already a repository ${kept.id}`);
  const saved = before === undefined ? kept : Object.freeze({ ...kept, id: before.id, createdAt: before.createdAt });
  state.repositories.set(saved.id, saved);
  return saved;
}

function isSameRef(a: RepositoryRef, b: RepositoryRef): boolean {
  return a.host === b.host && a.owner === b.owner && a.name === b.name;
}

function compareRepositories(a: Repository, b: Repository): number {
  return (
    compareText(a.host, b.host) ||
    compareText(a.owner, b.owner) ||
    compareText(a.name, b.name) ||
    compareText(a.id, b.id)
  );
}
