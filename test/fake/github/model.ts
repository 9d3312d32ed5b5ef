import type { KeyObject } from 'node:crypto';
import type { Timing } from '../../../src/lib/clock.ts';
import type { RequestRecord, Route } from './exchange.ts';
import type { Happening } from './happening.ts';

/**
 * The fake GitHub's state as plain data. Field names are the fake's own; `views/` maps them to the wire. Every change
 * is announced with `world.announce`.
 */
export interface World {
  readonly options: WorldOptions;
  /** `http://127.0.0.1:port`: the API, the web pages and git. */
  url: string;
  readonly users: Map<string, User>;
  readonly apps: Map<number, App>;
  readonly installations: Map<number, Installation>;
  /** By id, without deleted ones. */
  readonly repositories: Map<number, Repository>;
  readonly tokens: Map<string, Token>;
  /** Apps whose manifest was accepted but not fetched yet, by code. */
  readonly manifests: Map<string, Manifest>;
  readonly routes: Route[];
  readonly requests: RequestRecord[];
  /** Answers that violate the OpenAPI description. */
  readonly violations: string[];
  /** Background work, such as computing mergeability. `settle` waits for it. */
  readonly underway: Set<Promise<unknown>>;
  now(): number;
  nextId(): number;
  announce(happening: Happening): void;
  onHappening(listener: (happening: Happening) => void): void;
}

export interface WorldOptions {
  /** Parent folder of the bare repositories. */
  readonly folder: string;
  readonly clock: Timing;
  /** `lazy`: GitHub answers unknown and starts to compute. */
  readonly mergeability: 'lazy' | 'at_once';
  /** Lifetime of installation tokens. */
  readonly tokenLifetimeMs: number;
  readonly validate: boolean;
}

export interface User {
  readonly id: number;
  login: string;
  readonly type: 'User' | 'Bot' | 'Organization';
  readonly name: string;
}

export type Role = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin';

export type Access = 'read' | 'write' | 'admin';
export type Permissions = Readonly<Record<string, Access>>;

export interface App {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly owner: User;
  /** The account `slug[bot]` that the app acts as. */
  readonly bot: User;
  clientId: string;
  clientSecret: string;
  publicKey: KeyObject | undefined;
  permissions: Permissions;
  events: readonly string[];
  hook: { url: string | undefined; secret: string | undefined; isActive: boolean };
}

export interface Installation {
  readonly id: number;
  readonly app: App;
  readonly account: User;
  /** Undefined: all repositories of the account. */
  repositoryIds: Set<number> | undefined;
  permissions: Permissions;
  events: readonly string[];
  suspendedAt: number | undefined;
}

/** The app, its key (handed out once), and its webhook settings. */
export interface Manifest {
  readonly app: App;
  readonly privateKey: string;
}

export type Token =
  | {
      readonly kind: 'installation';
      readonly installation: Installation;
      readonly expiresAt: number;
      readonly permissions: Permissions;
    }
  | { readonly kind: 'user'; readonly user: User };

/** `user` is the account that acts. */
export type Caller =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'app'; readonly app: App; readonly user: User }
  | { readonly kind: 'user'; readonly user: User }
  | {
      readonly kind: 'installation';
      readonly user: User;
      readonly installation: Installation;
      readonly permissions: Permissions;
    };

export interface Repository {
  readonly id: number;
  readonly nodeId: string;
  owner: User;
  name: string;
  /** `owner/name` in lower case. Requests for these are redirected. */
  readonly formerNames: Set<string>;
  /** The bare repository on disk. */
  readonly gitDir: string;
  /** Commits by full ref name. Every change of refs updates this copy. */
  readonly refs: Map<string, string>;
  readonly parent: Repository | undefined;
  readonly isPrivate: boolean;
  readonly createdAt: number;
  updatedAt: number;
  isArchived: boolean;
  defaultBranch: string;
  readonly settings: RepositorySettings;
  /** By login in lower case. The owner is an admin, and everyone may read a public repository. */
  readonly roles: Map<string, Role>;
  readonly pulls: Map<number, PullRequest>;
  readonly labels: Map<string, Label>;
  readonly suites: CheckSuite[];
  readonly checks: CheckRun[];
  readonly statuses: CommitStatus[];
  /** By branch pattern, which may contain stars. */
  readonly protections: Map<string, Protection>;
  readonly rulesets: Ruleset[];
  readonly runs: WorkflowRun[];
  nextNumber: number;
  /** Merges and pushes run one after the other. */
  turn: Promise<unknown>;
}

export type MergeMethod = 'merge' | 'squash' | 'rebase';

export interface RepositorySettings {
  allowSquash: boolean;
  allowMerge: boolean;
  allowRebase: boolean;
  deleteBranchOnMerge: boolean;
}

export interface PullRequest {
  readonly id: number;
  readonly nodeId: string;
  readonly number: number;
  readonly repository: Repository;
  readonly author: User;
  readonly createdAt: number;
  title: string;
  body: string | undefined;
  /** Undefined when the fork was deleted. */
  headRepository: Repository | undefined;
  readonly headOwner: User;
  readonly headRef: string;
  headSha: string;
  baseRef: string;
  /** The head of the base branch when this was opened, last pushed to or merged. */
  baseSha: string;
  isDraft: boolean;
  state: 'open' | 'closed';
  updatedAt: number;
  closedAt: number | undefined;
  merged: { readonly at: number; readonly by: User; readonly sha: string } | undefined;
  isMerging: boolean;
  /** Computed for exactly these two commits. Read it through `mergeability.ts`. */
  merge: Mergeability;
  labels: Label[];
  readonly timeline: TimelineEvent[];
  readonly comments: Comment[];
  readonly reviews: Review[];
}

export interface Mergeability {
  readonly kind: 'unknown' | 'clean' | 'conflict';
  readonly headSha: string;
  readonly baseSha: string;
  /** The trial merge, kept as refs/pull/N/merge. */
  readonly sha: string | undefined;
  readonly tree: string | undefined;
  /** The head lacks the newest commit of the base. */
  readonly isBehind: boolean;
  /** The base already contains the head. */
  readonly isContained: boolean;
}

export interface Label {
  readonly name: string;
}

export type TimelineEvent = LabelEvent | BaseEvent;

interface Happened {
  readonly id: number;
  readonly nodeId: string;
  readonly actor: User;
  readonly at: number;
}

export interface LabelEvent extends Happened {
  readonly kind: 'labeled' | 'unlabeled';
  readonly label: Label;
}

export interface BaseEvent extends Happened {
  readonly kind: 'base_ref_changed' | 'automatic_base_change_succeeded';
  readonly from: string;
  readonly to: string;
}

export interface Comment {
  readonly id: number;
  readonly nodeId: string;
  readonly author: User;
  /** The app that wrote it on the user's behalf. */
  readonly app: App | undefined;
  readonly createdAt: number;
  updatedAt: number;
  isEdited: boolean;
  body: string;
  readonly reactions: Reaction[];
}

export interface Reaction {
  readonly id: number;
  readonly user: User;
  readonly content: '+1' | '-1' | 'laugh' | 'confused' | 'heart' | 'hooray' | 'rocket' | 'eyes';
}

export interface Review {
  readonly id: number;
  readonly author: User;
  readonly sha: string;
  readonly at: number;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
}

export type CheckStatus = 'queued' | 'in_progress' | 'completed' | 'waiting' | 'requested' | 'pending';
export type CheckConclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'stale'
  | 'startup_failure';

export interface CheckSuite {
  readonly id: number;
  readonly app: App;
  readonly sha: string;
  readonly branch: string | undefined;
}

export interface CheckRun {
  readonly id: number;
  readonly nodeId: string;
  readonly suite: CheckSuite;
  name: string;
  externalId: string;
  status: CheckStatus;
  conclusion: CheckConclusion | undefined;
  startedAt: number | undefined;
  completedAt: number | undefined;
  detailsUrl: string | undefined;
  title: string | undefined;
  summary: string | undefined;
  text: string | undefined;
}

export interface CommitStatus {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: 'error' | 'failure' | 'pending' | 'success';
  readonly description: string | undefined;
  readonly targetUrl: string | undefined;
  readonly creator: User;
  readonly app: App | undefined;
  readonly at: number;
}

export interface RequiredCheck {
  readonly context: string;
  /** The app that must report it. Undefined: any. */
  readonly appId: number | undefined;
}

/** It binds everybody but admins, and allows neither force-pushes nor deletions. */
export interface Protection {
  readonly id: number;
  readonly pattern: string;
  readonly checks: readonly RequiredCheck[] | undefined;
  /** The head must contain the newest commit of the base. */
  readonly isStrict: boolean;
  readonly reviews:
    | { readonly count: number; readonly dismissesStale: boolean; readonly needsCodeOwners: boolean }
    | undefined;
  /** Logins and app slugs that may push. Undefined: everyone with write access. */
  readonly pushers: readonly string[] | undefined;
  /** Logins and app slugs that need no pull request. */
  readonly bypassers: readonly string[];
}

export interface Ruleset {
  readonly id: number;
  readonly name: string;
  readonly enforcement: 'active' | 'disabled';
  /** `~DEFAULT_BRANCH`, `~ALL`, or `refs/heads/...` with stars. */
  readonly include: readonly string[];
  readonly bypass: readonly BypassActor[];
  readonly rules: readonly Rule[];
}

export interface BypassActor {
  /** The app's id. */
  readonly actorId: number;
  readonly type: 'Integration';
  /** With `exempt`, GitHub does not report the pull request as blocked either. */
  readonly mode: 'always' | 'pull_request' | 'exempt';
}

export type Rule =
  | { readonly type: 'required_status_checks'; readonly checks: readonly RequiredCheck[]; readonly isStrict: boolean }
  | { readonly type: 'pull_request'; readonly approvals: number }
  | { readonly type: 'update' }
  | { readonly type: 'deletion' }
  | { readonly type: 'creation' }
  | { readonly type: 'non_fast_forward' };

export interface WorkflowRun {
  readonly id: number;
  readonly name: string;
  readonly workflowId: number;
  readonly event: string;
  readonly headSha: string;
  readonly headBranch: string;
  readonly headRepository: Repository;
  readonly actor: User;
  status: CheckStatus;
  conclusion: CheckConclusion | undefined;
  readonly suite: CheckSuite;
  /** Empty for forks, like at GitHub. */
  readonly pulls: readonly number[];
}
