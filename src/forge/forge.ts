import type { PrNumber, PullRequestFacts, Sha } from '../engine/pull-request.ts';

/** A repository as a forge needs to know it. `id` names it uniquely on this server and is safe as a file name. */
export interface ForgeRepository {
  readonly id: string;
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  /** Plain git only: path or URL of the bare repository. */
  readonly git: string | undefined;
}

/**
 * What Sluice asks of the place where pull requests live. Every answer is read at the time of the question, never
 * remembered from an earlier one; a forge that cannot answer throws `FORGE_UNAVAILABLE`.
 */
export interface Forge {
  /** Undefined where there is no such pull request, or none any more that the forge remembers. */
  findPullRequest(query: PullRequestQuery): Promise<PullRequestFacts | undefined>;
  /** The branch's head, or undefined where there is no such branch. */
  findBranchHead(repository: ForgeRepository, branch: string): Promise<Sha | undefined>;
  /** Heads of all open pull requests: what reconcile compares with what it knows. May be a second old. */
  listPullRequestHeads(repository: ForgeRepository): Promise<ReadonlyMap<PrNumber, Sha>>;
  /** The sentence to show when `git` (a path or URL given by an operator) cannot be used, or undefined when it can. */
  checkAccess(repository: ForgeRepository): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface PullRequestQuery {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  /** Plain git has no base of its own for a pull request: it is whatever branch one asks about. */
  readonly targetBranch: string;
}
