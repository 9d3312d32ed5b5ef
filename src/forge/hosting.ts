import type { Check, CheckStatus } from '../engine/model/check.ts';
import type { PrNumber, PullRequestFacts } from '../engine/model/pull-request.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { ForgeKind } from '../lib/forge-kind.ts';
import type { Sha } from '../lib/sha.ts';
import type { ForgeRepository } from './forge-repository.ts';

/**
 * Port to a forge with accounts, CI and webhooks, which plain git lacks. Every answer is read at the time of the call.
 * A forge that cannot answer throws `FORGE_UNAVAILABLE`. When the rate limit is short, calls wait, and comments wait
 * longer than landings. known-not-applied.ts recognizes faults after which certainly nothing was written.
 */
export interface Hosting extends DeliveryReader, RepositoryRegister, ForgeReader, StackForge, PageWriter {
  readonly kind: ForgeKind;
  /** The landing mode that queues begin with: one after which pull requests show as merged. */
  readonly usualLanding: QueueSettings['landingMode'];
  /** Tells the operator in sentences what a queue on this branch still needs. */
  inspect(repository: ForgeRepository, branch: string, queue?: InspectedQueue): Promise<readonly SetupFinding[]>;
}

export interface DeliveryReader {
  /** Headers, in small letters. One of them proves where a webhook delivery comes from. */
  readonly proofHeaders: readonly string[];
  /** The header that names the delivery on the forge's page. */
  readonly idHeader: string;
  /** Verifies the proof of a webhook delivery and turns it into hints. Nothing else in the delivery is trusted. */
  readDelivery(delivery: Delivery): DeliveryAnswer;
}

export interface RepositoryRegister {
  /** Drops cached permissions, protection rules and names of a repository, or of all repositories of an owner. */
  forget(owner: string, name?: string): void;
  /** Looks up the name, which may be a former one or belong to another repository by now. */
  identify(repository: RepositoryName): Promise<RepositoryIdentity>;
  /** Looks up `forgeId`, whatever its present name. Undefined when it was deleted, or the server may not see it. */
  findById(repository: ForgeRepository): Promise<RepositoryIdentity | undefined>;
}

export interface ForgeReader {
  /** In one query. When another repository has the name, the snapshot has its identity alone. */
  poll(question: SnapshotQuery): Promise<ForgeSnapshot>;
  /** Batch form of `findPullRequest`. The answer leaves out pull requests that do not exist. */
  findPullRequests(
    repository: ForgeRepository,
    numbers: readonly PrNumber[],
  ): Promise<ReadonlyMap<PrNumber, PullRequestFacts>>;
  /**
   * The newest attempt of every check of each commit. A commit without checks has an empty list. A forge may leave out
   * checks that have none of the names.
   */
  readChecks(
    repository: ForgeRepository,
    commits: readonly Sha[],
    names?: readonly string[],
  ): Promise<ReadonlyMap<Sha, readonly CheckReport[]>>;
  /** With its author's present permission, and the pull request. Undefined when the comment was deleted. */
  readComment(question: CommentQuestion): Promise<CommentFacts | undefined>;
  /** Whether a pull request has a label now, and which account added or removed it last. */
  readLabel(question: LabelQuestion): Promise<LabelFacts | undefined>;
  /** With the id of the account, another account that has the login by now has none. Forges that people sign in with. */
  findPermission(repository: ForgeRepository, login: string, accountId?: string): Promise<Permission>;
  /** The workflow run that an upload from a fork names as its proof. Absent where a forge cannot prove one. */
  findWorkflowRun?(repository: ForgeRepository, runId: string): Promise<WorkflowRunFacts | undefined>;
  /**
   * Finds the open pull request whose head is this branch of the same repository. Of several, the one with that base.
   */
  findByBranch(repository: ForgeRepository, branch: string, base?: string): Promise<PrNumber | undefined>;
}

/** Pull requests whose base is the branch of another one. */
export interface StackForge {
  /**
   * Judges a pull request whose base is another branch by the rules of the target: its reviews, and not its checks. The
   * forge's own word about it does not count.
   */
  judgeForTarget(question: TargetQuestion): Promise<TargetJudgement>;
  /** Sets the base of an open pull request. Idempotent. Answers the forge's refusal as a sentence. */
  retarget(change: BaseChange): Promise<string | undefined>;
}

export interface PageWriter {
  /** With `id`, replaces the text: undefined when that comment was deleted. Without `id`, posts a new one. */
  writeComment(comment: CommentDraft): Promise<Written | undefined>;
  /** The newest own comment with the marker. It finds a comment whose answer was lost. */
  findOwnComment(question: OwnCommentQuestion): Promise<Written | undefined>;
  react(question: CommentQuestion, reaction: '+1' | 'eyes' | 'confused'): Promise<void>;
  /**
   * With `id`: undefined when it is gone. Without: the own check with the same `externalId`, or a new one. Absent where it
   * would become a part of CI.
   */
  writeCheck?(check: CheckRunDraft): Promise<Written | undefined>;
  /** Writes a comment and a check in one request. Each has its own outcome. Absent where they take two requests. */
  writePaired?(drafts: PairedDrafts): Promise<PairedAnswers>;
  /** Idempotent: labels that are already added or removed stay as they are. */
  changeLabels(change: LabelChange): Promise<void>;
  /** True when the forge does not notice by itself that a push has landed a pull request. */
  needsSettling(mergeMethod: QueueSettings['mergeMethod']): boolean;
  /** Closes it where the forge cannot. Deletes the branch if that is the setting, still at `headSha`. Idempotent. */
  settleLanded(request: SettleRequest): Promise<void>;
}

export interface Delivery {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export type DeliveryAnswer =
  | { readonly kind: 'unsigned' }
  /** The signature is right, but the body cannot be parsed. */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /** Empty when the delivery concerns no queue. */
  | { readonly kind: 'hints'; readonly hints: readonly WebhookHint[] };

/** Two hints with the same `key` are stored as one. The name `*` means all repositories of the owner. */
export type WebhookHint = HintSubject & {
  readonly key: string;
  readonly owner: string;
  readonly name: string;
  /** The forge's own id of the repository, from a forge that does not tell of renames. */
  readonly forgeId?: string;
};

export type HintSubject =
  /** `headSha` is the head at `changedAt`, by the forge's clock: a command on a fork is bound to it. */
  | {
      readonly kind: 'pull_request';
      readonly number: PrNumber;
      readonly headSha: Sha | undefined;
      readonly changedAt?: Instant;
      /** Only the mergeability is still unknown. */
      readonly isUndecided?: true;
    }
  /** Without `label`, the webhook did not say which label was added or removed. */
  | { readonly kind: 'label'; readonly number: PrNumber; readonly label?: string | undefined }
  /** Each comment is carried out once, however many webhooks report it. */
  | {
      readonly kind: 'comment';
      readonly number: PrNumber;
      readonly commentId: string;
      readonly nodeId?: string | undefined;
      /** The author that the webhook named. */
      readonly author?: string;
    }
  | { readonly kind: 'branch'; readonly branch: string }
  /** With `check`: its attempt since `startedAt` finished. With `report`: the webhook tells all that a read would. */
  | {
      readonly kind: 'checks';
      readonly sha: Sha;
      readonly check?: string;
      readonly startedAt?: Instant;
      readonly report?: CheckReport;
    }
  /** Protection, rulesets or permissions changed. */
  | { readonly kind: 'rules' }
  /** It was renamed, transferred (by its former name) or deleted, or the app installed, suspended or removed. */
  | { readonly kind: 'access' };

export interface SnapshotQuery {
  readonly repository: ForgeRepository;
  readonly branches: readonly string[];
  readonly entries: readonly PrNumber[];
  readonly commits: readonly Sha[];
  /** Names of the checks that count for the commits. */
  readonly checkNames?: readonly string[];
  /** Open pull requests that changed after this instant come with their latest comments and their labels. */
  readonly since: Instant;
}

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** The present name in the forge's spelling, and the forge's own id. */
export interface RepositoryIdentity extends RepositoryName {
  readonly forgeId: string;
}

export interface ForgeSnapshot {
  /** The repository that the snapshot describes. Undefined when the forge did not say. */
  readonly identity?: RepositoryIdentity;
  /** Undefined values are branches that do not exist. */
  readonly heads: ReadonlyMap<string, Sha | undefined>;
  readonly pullRequests: ReadonlyMap<PrNumber, PullRequestFacts | undefined>;
  readonly checks: ReadonlyMap<Sha, readonly CheckReport[]>;
  readonly changed: readonly ChangedPullRequest[];
}

export interface ChangedPullRequest {
  readonly number: PrNumber;
  readonly headSha: Sha;
  readonly baseBranch: string;
  readonly updatedAt: Instant;
  readonly labels: readonly string[];
  /** Comments after `since`. The forge may leave out comments without a command. */
  readonly comments: readonly {
    readonly id: string;
    readonly nodeId?: string | undefined;
    readonly createdAt: Instant;
    readonly author?: string;
  }[];
}

export interface CheckReport extends Pick<Check, 'name' | 'status' | 'conclusion' | 'startedAt' | 'url' | 'summary'> {
  /** If the forge vouches for it. Undefined for a status of GitHub that a person set: everyone with a token can. */
  readonly reporter: string | undefined;
  /** The id of the same app or account, as text. */
  readonly reporterId?: string | undefined;
  /** Number of reports under this name that were combined, including superseded ones. */
  readonly parts?: number;
}

export type Permission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin';

export interface Person {
  readonly login: string;
  readonly isBot: boolean;
  /** The account is this server's own app or user. */
  readonly isOwn: boolean;
}

export interface CommentQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly id: string;
  readonly nodeId?: string | undefined;
  /** The expected author. Saves a query when it is right. */
  readonly author?: string;
}

/** Its facts, and those of labels and polls, may lack `upToDate`. */
export interface CommentFacts {
  readonly body: string;
  readonly author: Person;
  readonly permission: Permission;
  readonly createdAt: Instant;
  readonly isEdited: boolean;
  readonly pr: PullRequestFacts;
  /** Last change of the pull request by the forge's clock. Its head was not pushed later than this. */
  readonly changedAt?: Instant | undefined;
  readonly retarget?: Retarget;
}

export interface TargetQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly targetBranch: string;
}

export type TargetJudgement = Pick<
  PullRequestFacts,
  'mergeability' | 'blockReasons' | 'failingChecks' | 'awaitedChecks' | 'blockDetail'
>;

export interface BaseChange {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly branch: string;
}

export interface Retarget {
  readonly at: Instant;
  /** Undefined when the forge did it itself or no longer knows. */
  readonly by: Person | undefined;
}

export interface LabelQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly label: string;
}

export interface LabelFacts {
  readonly isPresent: boolean;
  /** The last time the label was added or removed. Undefined when the forge no longer knows. */
  readonly last: LabelChanged | undefined;
  readonly pr: PullRequestFacts;
  /** As in `CommentFacts`. */
  readonly changedAt?: Instant | undefined;
  readonly retarget?: Retarget;
}

export interface LabelChanged {
  /** Timestamps of forges have whole seconds, so two changes can share an instant. The id tells them apart. */
  readonly id: string;
  readonly by: Person;
  readonly permission: Permission;
  readonly at: Instant;
}

export interface WorkflowRunFacts {
  /** The event that started the run. Only `pull_request` proves a fork. */
  readonly event: string;
  readonly isLive: boolean;
  readonly headSha: Sha;
  readonly prNumbers: readonly PrNumber[];
}

/** GitHub has two ids for one object: REST takes the number, GraphQL the node id. Other forges have one. */
export interface Written {
  readonly id: string;
  readonly nodeId?: string | undefined;
}

export interface PairedDrafts {
  readonly comment: CommentDraft;
  readonly check: CheckRunDraft;
}

export interface PairedAnswers {
  readonly comment: PromiseSettledResult<Written | undefined>;
  readonly check: PromiseSettledResult<Written | undefined>;
}

export interface CommentDraft {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly id: string | undefined;
  readonly nodeId?: string | undefined;
  /** Rendered markdown. */
  readonly text: string;
}

export interface OwnCommentQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly marker: string;
}

export interface CheckRunDraft {
  readonly repository: ForgeRepository;
  readonly id: string | undefined;
  readonly nodeId?: string | undefined;
  /** False when no earlier attempt can have written it. Then no search is needed. */
  readonly mayExist?: boolean;
  readonly headSha: Sha;
  readonly name: string;
  readonly externalId: string;
  readonly status: CheckStatus;
  readonly conclusion: 'SUCCESS' | 'FAILURE' | 'CANCELLED' | 'NEUTRAL' | undefined;
  readonly title: string;
  readonly summary: string;
  readonly url: string | undefined;
  readonly startedAt: Instant;
  readonly completedAt: Instant | undefined;
}

export interface LabelChange {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export interface SettleRequest {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly headSha: Sha;
  /** Its commit on the target branch. */
  readonly landedSha: Sha;
  readonly mergeMethod: QueueSettings['mergeMethod'];
}

/** Settings of the queue on the branch, if there is one. */
export type InspectedQueue = Pick<
  QueueSettings,
  'mergeMethod' | 'landingMode' | 'requiredStatuses' | 'createPrsForTestingBranches'
>;

export interface SetupFinding {
  readonly level: 'ok' | 'warning' | 'error';
  readonly code: string;
  readonly text: string;
}
