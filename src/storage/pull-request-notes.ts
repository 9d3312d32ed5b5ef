import type { RepositoryId } from './repositories.ts';

/** What Sluice has said about a pull request at its forge, and heard. */
export interface PullRequestNote {
  readonly repositoryId: RepositoryId;
  readonly prNumber: number;
  readonly version: number;
  /** JSON that only app/talk/note.ts reads and writes. */
  readonly body: string;
}

export interface PullRequestNoteStore {
  find(repositoryId: RepositoryId, prNumber: number): Promise<PullRequestNote | undefined>;
  /** `stale` (nothing written) unless the stored version is `note.version - 1` (1: unless there is none). */
  save(note: PullRequestNote): Promise<'saved' | 'stale'>;
  /** Of all its pull requests: another repository has its name now, and other ones. */
  removeAll(repositoryId: RepositoryId): Promise<void>;
}
