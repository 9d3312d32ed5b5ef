import type { RequestRecord } from '../hosted/rest-server.ts';

/** The state of the fake, as plain data. Instants are whole seconds in milliseconds, as Gitea stores them. */
export interface World {
  url: string;
  readonly folder: string;
  readonly users: Map<string, User>;
  readonly tokens: Map<string, Token>;
  readonly repositories: Map<number, Repository>;
  readonly requests: RequestRecord[];
  /** Errors of the fake itself. `close` throws when there are any. */
  readonly violations: string[];
  now(): number;
  nextId(): number;
  announce(happening: Happening): void;
}

export interface User {
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly password: string;
  readonly isAdmin: boolean;
}

export interface Token {
  readonly id: number;
  readonly name: string;
  readonly user: User;
  /** `all`, or `write:repository` and the like. */
  readonly scopes: readonly string[];
}

export const MODES = ['none', 'read', 'write', 'admin', 'owner'] as const;
export type Mode = (typeof MODES)[number];

export interface Repository {
  readonly id: number;
  readonly owner: User;
  name: string;
  readonly formerNames: Set<string>;
  readonly gitDir: string;
  readonly parent: Repository | undefined;
  isPrivate: boolean;
  isArchived: boolean;
  defaultBranch: string;
  readonly settings: Record<string, boolean>;
  readonly collaborators: Map<string, Mode>;
  readonly labels: Map<number, Label>;
  readonly pulls: Map<number, PullRequest>;
  readonly protections: Map<string, Protection>;
  readonly statuses: Status[];
  readonly hooks: Map<number, Hook>;
  /** The refs as of the last push. */
  refs: Map<string, string>;
  turn: Promise<unknown>;
}

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

export interface PullRequest {
  readonly id: number;
  readonly number: number;
  readonly repository: Repository;
  /** Undefined when the fork was deleted. */
  headRepository: Repository | undefined;
  readonly headBranch: string;
  baseBranch: string;
  readonly author: User;
  title: string;
  body: string;
  readonly labels: Set<Label>;
  isClosed: boolean;
  /** The commit of `refs/pull/N/head`. */
  headSha: string;
  mergeBase: string;
  merged: { readonly sha: string; readonly by: User; readonly at: number } | undefined;
  /** The last trial merge, and of which commits. */
  trial: { readonly key: string; readonly isClean: boolean } | undefined;
  readonly timeline: TimelineItem[];
  readonly reviews: Review[];
  readonly createdAt: number;
  updatedAt: number;
  closedAt: number | undefined;
}

/** Comments and events of a pull request, in one list with one sequence of ids. */
export interface TimelineItem {
  readonly id: number;
  readonly type: string;
  readonly user: User;
  body: string;
  readonly createdAt: number;
  updatedAt: number;
  readonly label?: Label;
  readonly reactions: { readonly user: User; readonly content: string; readonly createdAt: number }[];
}

export interface Review {
  readonly id: number;
  readonly user: User;
  readonly state: string;
  readonly body: string;
  readonly commitId: string;
  isStale: boolean;
  isOfficial: boolean;
  isDismissed: boolean;
  readonly createdAt: number;
}

export interface Protection {
  readonly ruleName: string;
  readonly createdAt: number;
  updatedAt: number;
  /** The fields as Gitea names them. */
  readonly rule: Record<string, boolean | number | string | readonly string[]>;
}

export interface Status {
  readonly id: number;
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string;
  readonly targetUrl: string;
  readonly creator: User;
  readonly createdAt: number;
}

export interface Hook {
  readonly id: number;
  type: string;
  config: Readonly<Record<string, string>>;
  events: readonly string[];
  isActive: boolean;
  readonly createdAt: number;
  updatedAt: number;
}

/** Announced after the state has changed. `type` is the event that hooks subscribe to. */
export type Happening = { readonly repository: Repository; readonly sender: User } & (
  | { readonly type: PullRequestEvent; readonly action: string; readonly pr: PullRequest; readonly review?: Review }
  | {
      readonly type: 'pull_request_comment';
      readonly action: string;
      readonly pr: PullRequest;
      readonly comment: TimelineItem;
    }
  | { readonly type: 'push'; readonly ref: string; readonly before: string; readonly after: string }
  | { readonly type: 'create' | 'delete'; readonly ref: string; readonly sha: string }
  | { readonly type: 'status'; readonly status: Status }
);

type PullRequestEvent =
  | 'pull_request'
  | 'pull_request_label'
  | 'pull_request_sync'
  | 'pull_request_review_approved'
  | 'pull_request_review_rejected'
  | 'pull_request_review_comment';

export function fullNameOf({ owner, name }: Repository): string {
  return `${owner.login}/${name}`;
}

export function findRepository(world: World, fullName: string): Repository | undefined {
  const wanted = fullName.toLowerCase();
  return world.repositories.values().find((repository) => fullNameOf(repository).toLowerCase() === wanted);
}

/** The repository that a former name redirects to. */
export function findRenamed(world: World, fullName: string): Repository | undefined {
  return world.repositories.values().find(({ formerNames }) => formerNames.has(fullName.toLowerCase()));
}

export function modeOf(repository: Repository, user: User | undefined): Mode {
  if (user === undefined) return repository.isPrivate ? 'none' : 'read';
  if (user === repository.owner || user.isAdmin) return 'owner';
  return repository.collaborators.get(user.login.toLowerCase()) ?? (repository.isPrivate ? 'none' : 'read');
}

export function hasMode(repository: Repository, user: User | undefined, mode: Mode): boolean {
  return MODES.indexOf(modeOf(repository, user)) >= MODES.indexOf(mode);
}

export function branchHead({ refs }: Repository, branch: string): string | undefined {
  return refs.get(`refs/heads/${branch}`);
}

/** The rule of a branch: its own name first, then the patterns in their order. */
export function protectionOf({ protections }: Repository, branch: string): Protection | undefined {
  return protections.get(branch) ?? protections.values().find(({ ruleName }) => matchesGlob(ruleName, branch));
}

/** Gitea's globs: `*` stays within a part of the path, `**` does not. */
export function matchesGlob(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('?', '[^/]')
    .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
  return new RegExp(`^${source}$`).test(text);
}

export function isDraft({ title }: PullRequest): boolean {
  return /^(?:WIP:|\[WIP\])/i.test(title);
}

/** Runs acts of one repository one after the other, like pushes. */
export function inTurn<T>(repository: Repository, act: () => Promise<T>): Promise<T> {
  const result = repository.turn.then(act);
  repository.turn = result.catch(() => undefined);
  return result;
}
