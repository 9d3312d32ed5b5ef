import type { PullRequestNoteStore } from '../pull-request-notes.ts';
import { frozenCopy } from './frozen-copy.ts';
import type { MemoryState } from './state.ts';

export function createMemoryPullRequestNotes({ repositories, pullRequestNotes }: MemoryState): PullRequestNoteStore {
  return {
    find: async (repositoryId, prNumber) => pullRequestNotes.get(repositoryId)?.get(prNumber),
    async save(note) {
      const kept = frozenCopy(note);
      if (!repositories.has(kept.repositoryId)) return 'stale';
      const ofRepository = pullRequestNotes.get(kept.repositoryId) ?? new Map();
      if ((ofRepository.get(kept.prNumber)?.version ?? 0) !== kept.version - 1) return 'stale';
      pullRequestNotes.set(kept.repositoryId, ofRepository.set(kept.prNumber, kept));
      return 'saved';
    },
    async removeAll(repositoryId) {
      pullRequestNotes.delete(repositoryId);
    },
  };
}
