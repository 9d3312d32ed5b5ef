import type { CheckConclusion, CheckStatus } from '../engine/check.ts';
import type { PrNumber, PullRequestFacts } from '../engine/pull-request.ts';
import type { QueueSettings } from '../engine/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import type { ForgeRepository } from './forge-repository.ts';

/**
 * What a forge with people on it has and plain git has not: CI that reports to it, people who comment and label, and
 * deliveries that say what happened. Answers are read at the time of the question. A forge that cannot answer throws
 * `FORGE_UNAVAILABLE`; one that is asked too much waits, and what people are told waits longer than what lands. Where a
 * fault is certain that nothing was done, not-done.ts knows it.
 */
export interface Hosting {
  /** Checks the signature of a delivery, and says where one should look. Nothing else in it is believed. */
  readDelivery(delivery: Delivery): DeliveryAnswer;
  /** Drops what was learned about a repository, or all of an owner's: permissions, protection or names changed. */
  forget(owner: string, name?: string): void;
  /** What is found under this name, which may be a former one, or another's by now. */
  identify(repository: RepositoryName): Promise<RepositoryIdentity>;
  /** The one with its `forgeId`, whatever it is called now. Undefined where it is gone, or hidden from us. */
  findById(repository: ForgeRepository): Promise<RepositoryIdentity | undefined>;

  /** Everything that deliveries would have told, in one look. Of another one than the `forgeId`, its name and id alone. */
  poll(question: SnapshotQuery): Promise<ForgeSnapshot>;
  /** Several at once, as `findPullRequest` of the forge finds one; those that are gone are not in the answer. */
  findPullRequests(
    repository: ForgeRepository,
    numbers: readonly PrNumber[],
  ): Promise<ReadonlyMap<PrNumber, PullRequestFacts>>;
  /** What CI says about each commit: of every check the newest attempt. A commit without checks has an empty list. */
  readChecks(repository: ForgeRepository, commits: readonly Sha[]): Promise<ReadonlyMap<Sha, readonly CheckReport[]>>;
  /** A comment as it is now, with what its author may do now and the pull request; undefined where it is gone. */
  readComment(question: CommentQuestion): Promise<CommentFacts | undefined>;
  /** Whether a pull request has a label now, and who put it there last. */
  readLabel(question: LabelQuestion): Promise<LabelFacts | undefined>;
  findPermission(repository: ForgeRepository, login: string): Promise<Permission>;
  /** A run of CI that says of itself that it runs for a fork's pull request. */
  findWorkflowRun(repository: ForgeRepository, runId: string): Promise<WorkflowRunFacts | undefined>;
  /** The open pull request of this repository whose head is this branch. */
  findByBranch(repository: ForgeRepository, branch: string): Promise<PrNumber | undefined>;

  /** With `id`: replaces the text; answers undefined where that comment is gone. Without: a new comment. */
  writeComment(comment: CommentDraft): Promise<Written | undefined>;
  /** The newest comment of ours that holds the marker: it may have been written while its answer got lost. */
  findOwnComment(question: OwnCommentQuestion): Promise<Written | undefined>;
  /** A short sign on somebody's comment that it was understood. */
  react(question: CommentQuestion, reaction: '+1' | 'eyes' | 'confused'): Promise<void>;
  /** With `id`: changes it; answers undefined where it is gone. Without: a new one, unless one of ours with the same
   * `externalId` is on that commit, which is then changed. */
  writeCheck(check: CheckRunDraft): Promise<Written | undefined>;
  /** A comment and a check as one act, where the forge has such a thing. What became of each is told by itself. */
  writePaired(drafts: PairedDrafts): Promise<PairedAnswers>;
  /** Adding what is there and removing what is not there change nothing. */
  changeLabels(change: LabelChange): Promise<void>;
  /**
   * A pull request whose commits were landed under other names: closed, and its branch deleted where the repository does
   * so with merged ones and the branch still is at `headSha`. Again: no change.
   */
  closeLanded(request: CloseRequest): Promise<void>;

  /** What is missing before a queue on this branch can work, in sentences for the operator. */
  inspect(repository: ForgeRepository, branch: string, queue?: InspectedQueue): Promise<readonly SetupFinding[]>;
}

export interface Delivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export type DeliveryAnswer =
  /** Not signed, or not with our secret. */
  | { readonly kind: 'unsigned' }
  /** Signed, and no delivery that can be read. */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /** Empty where it is about nothing that concerns a queue. */
  | { readonly kind: 'hints'; readonly hints: readonly WebhookHint[] };

/** Where somebody should look. Two with the same `key` are one: what is found there is the same. `name` may be `*`: all of an owner's. */
export type WebhookHint = HintSubject & { readonly key: string; readonly owner: string; readonly name: string };

export type HintSubject =
  /** `headSha` is what it said its head was, at `changedAt` by the forge's clock: for forks that is remembered. */
  | {
      readonly kind: 'pull_request';
      readonly number: PrNumber;
      readonly headSha: Sha | undefined;
      readonly changedAt?: Instant;
      /** Only to find out whether it can be merged. */
      readonly isUndecided?: true;
    }
  | { readonly kind: 'label'; readonly number: PrNumber; readonly label: string }
  /** Acted upon once, however often it is told of. */
  | {
      readonly kind: 'comment';
      readonly number: PrNumber;
      readonly commentId: string;
      readonly nodeId: string;
      /** Who it said had written it. */
      readonly author?: string;
    }
  | { readonly kind: 'branch'; readonly branch: string }
  /** With a check: it has finished, in the attempt that began then. */
  | { readonly kind: 'checks'; readonly sha: Sha; readonly check?: string; readonly startedAt?: Instant }
  /** Protection, rulesets or permissions. */
  | { readonly kind: 'rules' }
  /** Renamed, transferred (both under the former name), deleted, or the app was installed, suspended or removed. */
  | { readonly kind: 'access' };

export interface SnapshotQuery {
  readonly repository: ForgeRepository;
  /** Targets of queues. */
  readonly branches: readonly string[];
  /** In the queues now. */
  readonly entries: readonly PrNumber[];
  /** Under test now. */
  readonly commits: readonly Sha[];
  /** Open pull requests that changed after this instant are told with their latest comments and their labels. */
  readonly since: Instant;
}

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

/** As the forge spells it now, and what it knows it by. */
export interface RepositoryIdentity extends RepositoryName {
  readonly forgeId: string;
}

export interface ForgeSnapshot {
  /** What was looked at; undefined where the forge did not say. */
  readonly identity?: RepositoryIdentity;
  /** Undefined where there is no such branch. */
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
  /** Made after `since`; those that hold no command may be left out. */
  readonly comments: readonly {
    readonly id: string;
    readonly nodeId: string;
    readonly createdAt: Instant;
    readonly author?: string;
  }[];
}

export interface CheckReport {
  readonly name: string;
  /** The slug of the app that reports it; undefined for a commit status set by a person, or anybody with a token. */
  readonly app: string | undefined;
  /** The same app's number, as text. */
  readonly appId?: string | undefined;
  readonly status: CheckStatus;
  readonly conclusion: CheckConclusion | undefined;
  readonly startedAt: Instant | undefined;
  readonly url: string | undefined;
  readonly summary: string | undefined;
  /** How many of one name were taken together, also those that gave way. */
  readonly parts?: number;
}

export type Permission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin';

export interface Person {
  readonly login: string;
  readonly isBot: boolean;
  /** It is this server's own app or user. */
  readonly isOwn: boolean;
}

export interface CommentQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly id: string;
  readonly nodeId: string;
  /** Whom it is thought to be by: saves a question where it is true. */
  readonly author?: string;
}

export interface CommentFacts {
  readonly body: string;
  readonly author: Person;
  readonly permission: Permission;
  readonly createdAt: Instant;
  readonly isEdited: boolean;
  readonly pr: PullRequestFacts;
  /** When the pull request changed last, by the forge's clock: its head was not pushed later. */
  readonly changedAt?: Instant | undefined;
  readonly retarget?: Retarget;
}

/** The last time that a pull request got another base branch. */
export interface Retarget {
  readonly at: Instant;
  /** Undefined where the forge did so itself, or does not remember. */
  readonly by: Person | undefined;
}

export interface LabelQuestion {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly label: string;
}

export interface LabelFacts {
  readonly isPresent: boolean;
  /** The last time it was put on or taken off; undefined where the forge does not remember. */
  readonly last: LabelChanged | undefined;
  readonly pr: PullRequestFacts;
  /** As of a comment. */
  readonly changedAt?: Instant | undefined;
  readonly retarget?: Retarget;
}

export interface LabelChanged {
  /** Forges tell whole seconds: two changes can have the same instant, but not the same name. */
  readonly id: string;
  readonly by: Person;
  readonly permission: Permission;
  readonly at: Instant;
}

export interface WorkflowRunFacts {
  /** What started it: `pull_request` is the only one a fork can prove itself with. */
  readonly event: string;
  readonly isLive: boolean;
  readonly headSha: Sha;
  readonly prNumbers: readonly PrNumber[];
}

/** What the forge calls it: forges may have two names for one thing, and want now this one and now that one. */
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
  /** Markdown, ready to be shown. */
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
  /** False: nobody tried before, so that nobody needs to look for one. */
  readonly mayExist?: boolean;
  readonly headSha: Sha;
  readonly name: string;
  readonly externalId: string;
  readonly status: CheckStatus;
  readonly conclusion: 'SUCCESS' | 'FAILURE' | 'CANCELLED' | 'NEUTRAL' | undefined;
  readonly title: string;
  /** Markdown. */
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

export interface CloseRequest {
  readonly repository: ForgeRepository;
  readonly number: PrNumber;
  readonly headSha: Sha;
}

/** What the queue on the branch wants, where there is one. */
export type InspectedQueue = Pick<
  QueueSettings,
  'mergeMethod' | 'landingMode' | 'requiredStatuses' | 'createPrsForTestingBranches'
>;

/** What an operator is told about a connection before anybody waits in vain. */
export interface SetupFinding {
  readonly level: 'ok' | 'warning' | 'error';
  readonly code: string;
  readonly text: string;
}
