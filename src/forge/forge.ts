import type { LandedKind } from '../engine/candidate.ts';
import type { Strayed, TargetMoved } from '../engine/event.ts';
import type { PrNumber, PullRequestFacts } from '../engine/pull-request.ts';
import type { RequiredSources, StartProblem } from '../engine/required.ts';
import type { QueueSettings } from '../engine/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import type { ForgeRepository } from './forge-repository.ts';
import type { Hosting } from './hosting.ts';

export type { ForgeRepository } from './forge-repository.ts';

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
  /** Whether the one commit is the other, or an ancestor of it. */
  isAncestor(question: AncestryQuestion): Promise<boolean>;
  /** Whether the repository has a commit of this name, on whatever branch, pull request or candidate. */
  hasCommit(repository: ForgeRepository, sha: Sha): Promise<boolean>;
  /** The way of a branch from one commit to another, by first parents. */
  listLine(question: LineQuestion): Promise<LineAnswer>;
  /**
   * Makes a candidate's commit and keeps it under a ref that no CI builds. The same request makes the same commit, and
   * no two candidates share one: candidate id and planning instant are part of it.
   */
  buildCandidate(request: BuildRequest): Promise<BuildAnswer>;
  /** The branch under which CI sees a candidate, whether it is there yet or not. */
  testBranchOf(parts: TestBranchParts): string;
  /** Shows the commit to CI under its test branch. Again: no change. */
  publishCandidate(request: PublishRequest): Promise<PublishAnswer>;
  /**
   * Fills an empty folder with the files of a candidate's commit, for the built-in runner. Answers the sentence why that
   * is impossible with this commit, or undefined when it is done.
   */
  checkOut(request: CheckOutRequest): Promise<string | undefined>;
  /** Removes whatever refs a candidate had. Again, or for one that never had any: no change. */
  discardCandidate(request: DiscardRequest): Promise<void>;
  /** Ids of all candidates that have refs in the repository, whoever made them. May be a second old. */
  listCandidateIds(repository: ForgeRepository): Promise<readonly string[]>;
  /**
   * Moves the target from exactly `expectedHead` to what was tested: a guarded push, read back. When it was carried out
   * before (the answer got lost), it finds that by looking at the target, and answers as it would have then.
   */
  landCandidate(request: LandRequest): Promise<LandAnswer>;
  /** The sentence to show when `git` (a path or URL given by an operator) cannot be used, or undefined when it can. */
  checkAccess(repository: ForgeRepository): Promise<string | undefined>;
  /** The hooks of a repository that the server itself would run; undefined where they run elsewhere, or there are none. */
  findHooks?(repository: ForgeRepository): Promise<Hooks | undefined>;
  /** Calls back with what becomes of hooks beyond the answers given here. */
  onHooks?(listener: (news: HookNews) => void): void;
  /** What people and CI do at the forge itself; undefined on plain git. */
  readonly hosting?: Hosting;
  close(): Promise<void>;
}

/** Programs of a repository that the server runs. */
export interface Hooks {
  /** Those that a push runs. */
  readonly names: readonly string[];
  /** Those that git passes over. */
  readonly notExecutable: readonly string[];
  /** Why they must not run, as the end of a sentence; undefined where they may. */
  readonly problem: string | undefined;
}

/** `source` is the id of the repository. */
export type HookNews =
  /** They did not run. */
  | { readonly kind: 'off'; readonly source: string; readonly problem: string }
  /** Those after a push went on for too long. */
  | { readonly kind: 'stopped'; readonly source: string; readonly ref: string; readonly words: string }
  | { readonly kind: 'printed'; readonly source: string; readonly ref: string; readonly words: string };

export interface PullRequestQuery {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  /** Plain git has no base of its own for a pull request: it is whatever branch one asks about. */
  readonly targetBranch: string;
}

export interface AncestryQuestion {
  readonly repository: ForgeRepository;
  readonly ancestor: Sha;
  readonly descendant: Sha;
}

export interface LineQuestion {
  readonly repository: ForgeRepository;
  readonly head: Sha;
  readonly since: Sha;
  /** Nobody is told of more commits. */
  readonly limit: number;
}

export type LineAnswer =
  /** Newest first: `head` is the first of them, and `since` is the parent of the last. */
  | { readonly kind: 'line'; readonly commits: readonly LineCommit[] }
  /** `since` is in `head`, but not on its line; or not in it at all. */
  | { readonly kind: 'merged' }
  | { readonly kind: 'broken' }
  /** The repository does not have one of them any more. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'too_long' };

export interface LineCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  /** The name, and the first line of the message; cut where they are long. */
  readonly author: string;
  readonly subject: string;
}

/** A pull request as it goes into a commit. */
export interface CandidateEntry {
  readonly prNumber: PrNumber;
  readonly headSha: Sha;
  readonly title: string;
  readonly author: string;
  /** The title that its author wants on the target instead. */
  readonly mergeTitle?: string;
}

interface CandidateRequest {
  readonly repository: ForgeRepository;
  readonly targetBranch: string;
  /** The candidate's id: a UUID. */
  readonly candidateId: string;
}

export interface BuildRequest extends CandidateRequest {
  readonly base: Sha;
  /** A commit that already is base + beneath: build on it. Undefined: put `beneath` on the base first. */
  readonly parent: Sha | undefined;
  readonly beneath: readonly CandidateEntry[];
  /** Empty for a test of the head itself: the commit then has the base's tree. */
  readonly members: readonly CandidateEntry[];
  readonly mergeMethod: QueueSettings['mergeMethod'];
  readonly plannedAt: Instant;
}

export type BuildAnswer =
  | { readonly kind: 'built'; readonly sha: Sha; readonly tree: Sha; readonly sources: RequiredSources }
  /**
   * `prNumber`, a member, cannot be merged. `culprit` is the entry at which, adding those ahead of it in order, the
   * merge of `prNumber` first conflicts; undefined where it conflicts with the base itself.
   */
  | { readonly kind: 'conflict'; readonly prNumber: PrNumber; readonly culprit: PrNumber | undefined }
  | { readonly kind: 'unbuildable'; readonly reason: StartProblem; readonly detail: string };

/** What a test branch is named by. */
export interface TestBranchParts {
  readonly candidateId: string;
  /** Of the first member; undefined for a test of the head itself. */
  readonly prNumber: PrNumber | undefined;
  readonly isBisection: boolean;
}

export interface PublishRequest extends CandidateRequest, TestBranchParts {
  readonly sha: Sha;
  /** Also as a draft pull request, where the forge has such, with this text. */
  readonly draft?: { readonly body: string };
}

export type PublishAnswer =
  | { readonly kind: 'published'; readonly branch: string }
  | { readonly kind: 'refused'; readonly reason: StartProblem; readonly detail: string };

export interface CheckOutRequest {
  readonly repository: ForgeRepository;
  readonly sha: Sha;
  readonly folder: string;
  /** Whether whoever works there may not read the server's copy of the repository. */
  readonly isIsolated: boolean;
}

export interface DiscardRequest extends Omit<CandidateRequest, 'targetBranch'>, TestBranchParts {
  /** Its commit, where checks still run that nobody waits for any more: they are stopped where the forge can do that. */
  readonly unfinished?: Sha;
}

export interface LandRequest extends CandidateRequest {
  readonly expectedHead: Sha;
  readonly base: Sha;
  /** The tested commit and its tree. */
  readonly sha: Sha;
  readonly tree: Sha;
  /** What lands, in order: live entries beneath that a pass vouched for, then the members. */
  readonly entries: readonly CandidateEntry[];
  /** Somebody took an entry back meanwhile: it is only looked whether it was landed before. */
  readonly isCalledOff: boolean;
  /** Whether nobody took an entry back since: asked between two entries where they land one by one. */
  readonly isStillWanted?: () => Promise<boolean>;
  /** Ends waiting early: this server stops, or another one does the same. */
  readonly signal?: AbortSignal;
  /** Entries landed since the base that are not in it: the tested tree may be composed with their paths. */
  readonly composedWith: readonly PrNumber[];
  readonly mergeMethod: QueueSettings['mergeMethod'];
  readonly landingMode: QueueSettings['landingMode'];
  readonly plannedAt: Instant;
}

export type LandAnswer =
  | {
      readonly kind: 'landed';
      readonly how: LandedKind;
      readonly pushedSha: Sha;
      readonly pushedTree: Sha;
      /** Each entry's own commit on the target; `kind` where it differs from `how`. */
      readonly entries: readonly {
        readonly prNumber: PrNumber;
        readonly sha: Sha;
        readonly tree: Sha;
        readonly kind?: LandedKind;
      }[];
      /** Why a merge API stopped before the last of them. */
      readonly stopped?: LandingStop;
    }
  /** It was not landed before, and nobody wants it any more. */
  | { readonly kind: 'called_off' }
  /** The target is not where it was expected, and this candidate did not move it. Undefined: the branch is gone. */
  | TargetMoved
  /** A pull request is not at the commit that was tested any more. */
  | { readonly kind: 'pull_request_moved'; readonly prNumber: PrNumber }
  /** Both sides changed a path, or the merge conflicts: it must be built and tested again on the new head. */
  | { readonly kind: 'not_composable'; readonly detail: string }
  | {
      readonly kind: 'refused';
      readonly prNumber: PrNumber;
      readonly reason: LandingProblem;
      readonly detail: string;
    };

/** What a merge API did, or met, that was not as predicted. What came before it has landed as it was tested. */
export type LandingStop =
  | { readonly kind: 'refused'; readonly prNumber: PrNumber; readonly reason: LandingProblem; readonly detail: string }
  | { readonly kind: 'pull_request_moved'; readonly prNumber: PrNumber }
  | TargetMoved
  | Strayed;

export type LandingProblem =
  /** Somebody merged it past the queue: it does not fail for that. */
  | 'MANUAL_MERGE'
  | 'GITHUB_API_MERGE_PR_FAILED'
  | 'GITHUB_API_DIRECT_MERGE_PR_FAILED'
  | 'GITHUB_API_BRANCH_PROTECTION_UNMET'
  | 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS'
  | 'GITHUB_API_RATE_LIMIT_EXCEEDED'
  | 'GITHUB_API_REPEATED_SERVER_ERRORS';
