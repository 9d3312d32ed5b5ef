import type { RepositoryId } from './repositories.ts';

/** A record of Sluice's writes to a pull request at its forge, and of the commands it has read there. */
export interface PullRequestNote {
  readonly repositoryId: RepositoryId;
  readonly prNumber: number;
  readonly version: number;
  /** JSON that only app/pr-page/note.ts reads and writes. */
  readonly body: string;
}

export interface PullRequestNoteStore {
  find(repositoryId: RepositoryId, prNumber: number): Promise<PullRequestNote | undefined>;
  /** `stale` (nothing written) unless the stored version is `note.version - 1` (1: unless there is none). */
  save(note: PullRequestNote): Promise<'saved' | 'stale'>;
  /** Removes the notes of all its pull requests: another repository has its name now, with other pull requests. */
  removeAll(repositoryId: RepositoryId): Promise<void>;
}
