/** What an upload says of where its tests ran. */
export interface PlaceQuestion {
  readonly repositoryId: string;
  readonly sha: string;
  readonly branch: string;
  readonly jobName: string | null;
}

/** Where its tests did run, as far as the queues of the repository and its forge know. */
export interface UploadPlace {
  /** Whether the repository has the commit; null: there is none to ask, or it cannot be asked now. */
  readonly hasCommit: boolean | null;
  /** The candidate whose commit and test branch these are. */
  readonly candidateId: string | null;
  /** Its check of the job's name, where exactly one required check has it. */
  readonly check: string | null;
}

export const UNKNOWN_PLACE: UploadPlace = { hasCommit: null, candidateId: null, check: null };
