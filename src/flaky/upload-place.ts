import type { TestedTree } from './core/run.ts';

/** An upload's claim about where its tests ran. */
export interface PlaceQuestion {
  readonly repositoryId: string;
  readonly sha: string;
  readonly branch: string;
  readonly jobName: string | null;
  /** The candidate that the upload names. */
  readonly candidateId: string | null;
  readonly isOfRunner: boolean;
}

/** The verified origin of an upload, as far as the repository's queues and its forge know it. */
export interface UploadPlace {
  /** Whether the repository has the commit; null: there is no repository to ask, or the forge does not answer now. */
  readonly hasCommit: boolean | null;
  /** The candidate with this commit and test branch. */
  readonly candidateId: string | null;
  /** The check of the candidate with the job's name, if exactly one matches; a required one goes first. */
  readonly check: string | null;
  readonly tree: TestedTree | null;
}

export const UNKNOWN_PLACE: UploadPlace = { hasCommit: null, candidateId: null, check: null, tree: null };
