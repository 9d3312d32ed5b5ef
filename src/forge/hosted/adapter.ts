import type { RequiredStatus } from '../../engine/model/check.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Refusal } from '../candidate/candidate-refs.ts';
import type { MergeAnswer, MergeState } from '../candidate/land-one-by-one.ts';
import type { CandidateEntry, ForgeRepository, LandRequest, PublishRequest, PullRequestQuery } from '../forge.ts';
import type { Hosting, RepositoryIdentity, RepositoryName } from '../hosting.ts';

/** Commits, test branches and landings by push go through git, alike for all (create-hosted-forge.ts). */
export interface HostedAdapter {
  readonly hosting: Hosting;
  readonly remote: HostedRemote;
  pullRequestRef(number: PrNumber): string;
  findPullRequest(query: PullRequestQuery): Promise<PullRequestFacts | undefined>;
  readRequiredChecks(repository: ForgeRepository, branch: string): Promise<readonly RequiredStatus[]>;
  /** Every account with write access can report a check here. */
  readonly pinsReporters?: true;
  /** Opens a pull request for a branch. Idempotent. Answers the refusal, or undefined on success. */
  openPullRequest(draft: DraftRequest): Promise<Refusal | undefined>;
  /** Cancels the CI of a commit, to save machine time. Absent where a forge cannot. */
  cancelRuns?(repository: ForgeRepository, sha: Sha): Promise<void>;
  readonly merging: HostedMerging;
  /** Answers a sentence when the repository cannot be used, whatever git says. */
  checkRepository(repository: ForgeRepository): Promise<string | undefined>;
  /** A better sentence than git's, if the forge knows which permission is missing. */
  explainNoAccess?(repository: ForgeRepository): Promise<string | undefined>;
  close(): void;
}

/** Repositories of the forge over https. */
export interface HostedRemote {
  /** As people call the forge: "GitHub". */
  readonly title: string;
  readonly webUrl: string;
  /** The present name and id. They may be cached. */
  resolve(repository: RepositoryName): Promise<RepositoryIdentity>;
  authorize(repository: RepositoryName): Promise<{ readonly user: string; readonly token: string }>;
  /** Pushes go over ssh with this key. Absent: with the token, as everything else. */
  pushBy?(repository: RepositoryName): Promise<{ readonly url: string; readonly keyFile: string }>;
  /** Forgets names and permissions of a repository, and this token, which was refused. */
  forget(repository: RepositoryName, token: string | undefined): Promise<void>;
}

/** As the merge APIs call the methods. */
export const METHODS = { MERGE_COMMIT: 'merge', SQUASH: 'squash', REBASE: 'rebase' } as const;

export interface HostedMerging {
  /** Whether each pull request of the landing is open, and for which branch. Those that do not exist are left out. */
  findOpenStates(request: LandRequest): Promise<ReadonlyMap<PrNumber, OpenState>>;
  /** Sent once: a merge without an answer may have happened. Absent where only a push lands. */
  merge?(request: LandRequest, entry: CandidateEntry): Promise<MergeAnswer>;
  findMergeState?(request: LandRequest, prNumber: PrNumber): Promise<MergeState>;
}

export interface DraftRequest extends Pick<PublishRequest, 'repository' | 'targetBranch'> {
  readonly branch: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

export interface OpenState {
  readonly state: 'open' | 'merged' | 'closed';
  readonly baseBranch: string;
}
