import type { LandedKind } from '../engine/model/candidate.ts';
import type { LandedEntry, Strayed, TargetMoved } from '../engine/model/event.ts';
import type { PrNumber, PullRequestFacts } from '../engine/model/pull-request.ts';
import type { RequiredSources, StartProblem } from '../engine/model/required.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { HookNews, Hooks } from '../lib/hooks.ts';
import type { Sha } from '../lib/sha.ts';
import type { ForgeRepository } from './forge-repository.ts';
import type { Hosting } from './hosting.ts';

export type { ForgeRepository } from './forge-repository.ts';

/** Every answer is read at the time of the call, never cached. Without one it throws `FORGE_UNAVAILABLE`. */
export interface Forge extends BranchReader, CandidateStore {
  /** Undefined when the pull request does not exist or the forge no longer knows it. */
  findPullRequest(query: PullRequestQuery): Promise<PullRequestFacts | undefined>;
  /** Up to a second old. The poller compares them with the stored heads. Absent where `hosting.poll` reads them. */
  listPullRequestHeads?(repository: ForgeRepository): Promise<ReadonlyMap<PrNumber, Sha>>;
  /** Answers a sentence for the operator when the repository cannot be used, or undefined when it can. */
  checkAccess(repository: ForgeRepository): Promise<string | undefined>;
  /** A file of a commit, cut at the most that git answers. Undefined if the commit has none. Absent at hosted forges. */
  readFile?(question: FileQuestion): Promise<Buffer | undefined>;
  /** The files of a commit with one of these names, in any folder. Undefined: they are too many, or it has no such commit. */
  readFiles?(question: FilesQuestion): Promise<readonly NamedFile[] | undefined>;
  /** Old and new names of the files in which the head differs from where it left the base. */
  listChangedFiles?(question: ChangesQuestion): Promise<ChangesAnswer>;
  /** Undefined if the two merge, or one of them is lost. */
  showConflict?(question: ConflictQuestion): Promise<ConflictHunks | undefined>;
  /** At most a thousand, newest first. None if a commit is lost. */
  listOwnCommits?(question: OwnCommitsQuestion): Promise<readonly Sha[]>;
  /** Makes a pull request that takes back what a commit of the target branch brought. Idempotent. */
  proposeRevert?(request: RevertRequest): Promise<RevertAnswer>;
  /** The sources of required checks on this commit of a branch. Absent where `hosting.inspect` reads them. */
  findRequired?(repository: ForgeRepository, base: Sha): Promise<RequiredSources>;
  /** The hooks that this server would run. Undefined when there are none, or they run on another machine. */
  findHooks?(repository: ForgeRepository): Promise<Hooks | undefined>;
  /** Subscribes to hook results that arrive after a push was answered. */
  onHooks?(listener: (news: HookNews) => void): void;
  /** Undefined on plain git, which has no comments, labels, checks or webhooks. */
  readonly hosting?: Hosting;
  close(): Promise<void>;
}

export interface BranchReader {
  /** Undefined when the branch does not exist. */
  findBranchHead(repository: ForgeRepository, branch: string): Promise<Sha | undefined>;
  /** A commit counts as its own ancestor. */
  isAncestor(question: AncestryQuestion): Promise<boolean>;
  /** The tree of a commit of any branch, pull request or candidate. Undefined when the repository lacks the commit. */
  findTree(repository: ForgeRepository, sha: Sha): Promise<Sha | undefined>;
  listLine(question: LineQuestion): Promise<LineAnswer>;
}

export interface CandidateStore {
  /** Under a ref that no CI builds. The same request gives the same commit. Two candidates never share one. */
  buildCandidate(request: BuildRequest): Promise<BuildAnswer>;
  /** The name of the test branch, whether or not it exists yet. */
  testBranchOf(parts: TestBranchParts): string;
  /** Pushes the commit to its test branch. Idempotent. */
  publishCandidate(request: PublishRequest): Promise<PublishAnswer>;
  /** Fills an empty folder for the built-in runner. Answers a sentence why it cannot, or undefined on success. */
  checkOut(request: CheckOutRequest): Promise<string | undefined>;
  /** Removes every ref of a candidate. Idempotent, also for a candidate without refs. */
  discardCandidate(request: DiscardRequest): Promise<void>;
  /** Ids of all candidates that have refs in the repository, also of other servers. Up to a second old. */
  listCandidateIds(repository: ForgeRepository): Promise<readonly string[]>;
  /** A guarded push from exactly `expectedHead`, read back. A landing whose answer was lost is answered again. */
  landCandidate(request: LandRequest): Promise<LandAnswer>;
}

/** The commits of `head` that `without` lacks. */
export interface OwnCommitsQuestion {
  readonly repository: ForgeRepository;
  readonly head: Sha;
  readonly without: Sha;
}

export interface FileQuestion {
  readonly repository: ForgeRepository;
  readonly sha: Sha;
  readonly path: string;
}

export interface FilesQuestion {
  readonly repository: ForgeRepository;
  readonly sha: Sha;
  readonly names: readonly string[];
}

export interface NamedFile {
  readonly path: string;
  /** Absent: it is too large. */
  readonly bytes?: Buffer;
}

export interface ChangesQuestion {
  readonly repository: ForgeRepository;
  readonly base: Sha;
  readonly head: Sha;
}

export interface ConflictQuestion {
  readonly repository: ForgeRepository;
  readonly target: Sha;
  readonly head: Sha;
  /** Of the text. */
  readonly maxLength: number;
}

export interface ConflictHunks {
  readonly files: readonly string[];
  /** With the marks of git: above, the target's side; below, the other's. */
  readonly text: string;
  readonly isCut: boolean;
}

export type ChangesAnswer =
  | { readonly kind: 'changed'; readonly paths: readonly string[] }
  /** `unrelated`: the two share no commit. `lost`: the repository lacks one of them. */
  | { readonly kind: 'too_many' | 'unrelated' | 'lost' };

export interface PullRequestQuery {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  /** On plain git a pull request has no base of its own, so the caller names the branch. */
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
  /** The answer is `too_long` beyond this many commits. */
  readonly limit: number;
  /** Heads of pull requests whose landings are looked for. */
  readonly heads?: ReadonlyMap<PrNumber, Sha>;
  /** The key of commits that this queue made. */
  readonly proofKey?: Uint8Array;
}

export type LineAnswer =
  /** Newest first. `head` is the first commit, and `since` is the parent of the last. */
  | { readonly kind: 'line'; readonly commits: readonly LineCommit[] }
  /** `merged`: `since` is an ancestor of `head`, but not on its first-parent line. `broken`: it is no ancestor. */
  | { readonly kind: 'merged' }
  | { readonly kind: 'broken' }
  /** The repository no longer has one of the two commits. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'too_long' };

export interface LineCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  /** Author name and first line of the message, both shortened. */
  readonly author: string;
  readonly subject: string;
  /** The candidate that it was made for, if the proof in its message is right. */
  readonly provenCandidate?: string;
  /** The pull request, of those asked for, whose landing by Sluice ends with this commit: it contains the head. */
  readonly prNumber?: PrNumber;
}

export interface CandidateEntry {
  readonly prNumber: PrNumber;
  readonly headSha: Sha;
  readonly title: string;
  readonly author: string;
  /** A title that the author chose for the commit on the target branch. */
  readonly mergeTitle?: string;
  /** Heads of pull requests below it that the commit is built on, in it or landed. Absent: there are none. */
  readonly below?: readonly Sha[];
}

interface CandidateRequest {
  readonly repository: ForgeRepository;
  readonly targetBranch: string;
  readonly candidateId: string;
  /** Signs the commits that are made. Absent: they are not signed. */
  readonly proofKey?: Uint8Array;
}

export interface BuildRequest extends CandidateRequest {
  readonly base: Sha;
  /** A commit that already contains base + beneath. Undefined: `beneath` is applied to the base first. */
  readonly parent: Sha | undefined;
  readonly beneath: readonly CandidateEntry[];
  /** Empty for a test of the head itself. The commit then has the base's tree. */
  readonly members: readonly CandidateEntry[];
  readonly mergeMethod: QueueSettings['mergeMethod'];
  readonly plannedAt: Instant;
}

export type BuildAnswer =
  | { readonly kind: 'built'; readonly sha: Sha; readonly tree: Sha; readonly sources: RequiredSources }
  /** `culprit` is the first entry ahead that it conflicts with. Undefined: it conflicts with the base alone. */
  | {
      readonly kind: 'conflict';
      readonly prNumber: PrNumber;
      readonly culprit: PrNumber | undefined;
      readonly files?: readonly string[];
    }
  | { readonly kind: 'unbuildable'; readonly reason: StartProblem; readonly detail: string };

export interface TestBranchParts {
  readonly candidateId: string;
  /** The first member. Undefined for a test of the head itself. */
  readonly prNumber: PrNumber | undefined;
  readonly isBisection: boolean;
  /** Its prefix tells CI to run only what the test run asks for. */
  readonly isProbe?: true;
}

export interface PublishRequest extends CandidateRequest, TestBranchParts {
  readonly sha: Sha;
  /** A forge with draft pull requests opens one with this text too. */
  readonly draft?: { readonly body: string };
}

export type PublishAnswer =
  | { readonly kind: 'published'; readonly branch: string }
  | { readonly kind: 'refused'; readonly reason: StartProblem; readonly detail: string };

export interface CheckOutRequest {
  readonly repository: ForgeRepository;
  readonly sha: Sha;
  readonly folder: string;
  /** True when the commands cannot read the server's copy of the repository. */
  readonly isIsolated: boolean;
}

export interface DiscardRequest extends Omit<CandidateRequest, 'targetBranch'>, TestBranchParts {
  /** People may still fetch its commit, so its own ref stays. */
  readonly keepsCommit?: boolean;
  /** The candidate's commit, when its checks may still be running. The forge cancels them if it can. */
  readonly unfinished?: Sha;
}

export interface LandRequest extends CandidateRequest {
  readonly expectedHead: Sha;
  readonly base: Sha;
  readonly sha: Sha;
  readonly tree: Sha;
  /** The entries to land, in order: entries beneath that a passed candidate vouched for, then the members. */
  readonly entries: readonly CandidateEntry[];
  /** The landing was cancelled. The forge only finds out whether an earlier request landed it. */
  readonly isCalledOff: boolean;
  /** Asked between two merges, since an entry may be cancelled meanwhile. */
  readonly isStillWanted?: () => Promise<boolean>;
  /** Ends a wait early: the server stops, or another server took over the landing. */
  readonly signal?: AbortSignal;
  /** Entries that landed after the base. The tested tree may be combined with their paths. */
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
      /** The commit of each entry on the target branch. `kind` is set when it differs from `how`. */
      readonly entries: readonly LandedEntry[];
      /** The reason why a merge API stopped before the last entry. */
      readonly stopped?: LandingStop;
    }
  /** The landing was cancelled, and no earlier request had landed it. */
  | { readonly kind: 'called_off' }
  /** It has another head, which is not this candidate's. `head` is undefined when the branch is gone. */
  | TargetMoved
  /** The head of a pull request is no longer the tested commit. */
  | { readonly kind: 'pull_request_moved'; readonly prNumber: PrNumber }
  /** Both sides changed a path, or the merge conflicts: it must be built and tested again on the new head. */
  | { readonly kind: 'not_composable'; readonly detail: string }
  | EntryRefused;

export interface RevertRequest {
  readonly repository: ForgeRepository;
  readonly targetBranch: string;
  readonly head: Sha;
  /** The last commit of what is taken back. */
  readonly commit: Sha;
  /** The commit before the first one. Undefined: the first parent of `commit`. */
  readonly before: Sha | undefined;
  /** Undefined: the first line of the message of `commit`. */
  readonly subject: string | undefined;
  /** The pull request that landed. Undefined: it was pushed past the queue. */
  readonly prNumber: PrNumber | undefined;
  readonly actor: string;
  /** The highest number of a pull request that queues know. */
  readonly above: number;
}

export type RevertAnswer =
  | { readonly kind: 'proposed'; readonly number: PrNumber }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The head has none of the changes any more, or there is nothing before the commit. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly detail: string };

interface EntryRefused {
  readonly kind: 'refused';
  readonly prNumber: PrNumber;
  readonly reason: LandingProblem;
  readonly detail: string;
}

/** A merge API stopped at this entry. The entries before it landed as tested. */
export type LandingStop =
  | EntryRefused
  | { readonly kind: 'pull_request_moved'; readonly prNumber: PrNumber }
  | TargetMoved
  | Strayed;

export type LandingProblem =
  /** A person merged it past the queue. The entry does not fail. */
  | 'MANUAL_MERGE'
  | 'GITHUB_API_MERGE_PR_FAILED'
  | 'GITHUB_API_DIRECT_MERGE_PR_FAILED'
  | 'GITHUB_API_BRANCH_PROTECTION_UNMET'
  | 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS'
  | 'GITHUB_API_RATE_LIMIT_EXCEEDED'
  | 'GITHUB_API_REPEATED_SERVER_ERRORS';
