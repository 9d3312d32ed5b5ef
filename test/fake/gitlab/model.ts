import type { RequestRecord } from '../hosted/rest-server.ts';

/** The state of the fake, as plain data. Instants have milliseconds, as GitLab's have. */
export interface World {
  url: string;
  readonly folder: string;
  readonly users: Map<string, User>;
  readonly tokens: Map<string, Token>;
  readonly projects: Map<number, Project>;
  readonly requests: RequestRecord[];
  /** Errors of the fake itself, and what GitLab would not answer or take. `close` throws when there are any. */
  readonly violations: string[];
  /** Requests that may follow, and when there may be more. Undefined: any number. */
  limit: { remaining: number; readonly resetAt: number } | undefined;
  now(): number;
  nextId(): number;
  announce(happening: Happening): void;
}

export interface User {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
  state: 'active' | 'blocked';
}

export interface Token {
  readonly id: number;
  readonly user: User;
  readonly scopes: readonly string[];
  expiresAt: number | undefined;
}

/** Roles of members, and who may do something to a protected branch. */
export const LEVEL = { none: 0, guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;
export type Level = (typeof LEVEL)[keyof typeof LEVEL] | 15;

export interface Project {
  readonly id: number;
  /** A group in groups: `acme/tools`. */
  namespace: string;
  path: string;
  readonly formerPaths: Set<string>;
  readonly gitDir: string;
  readonly parent: Project | undefined;
  isPrivate: boolean;
  isArchived: boolean;
  defaultBranch: string;
  readonly settings: Record<string, boolean | string>;
  readonly members: Map<number, Level>;
  readonly labels: Set<string>;
  readonly requests: Map<number, MergeRequest>;
  readonly pipelines: Pipeline[];
  readonly protections: Map<string, Protection>;
  readonly deployKeys: Map<number, DeployKey>;
  readonly hooks: Map<number, Hook>;
  /** Names of the jobs of each pipeline. Undefined: there is no CI. */
  jobs: readonly string[] | undefined;
  /** The refs as of the last push. */
  refs: Map<string, string>;
  turn: Promise<unknown>;
}

export interface Protection {
  readonly id: number;
  readonly name: string;
  push: (Level | { readonly deployKey: number })[];
  merge: Level[];
}

export interface DeployKey {
  readonly id: number;
  readonly title: string;
  /** Type and bytes, without the comment. */
  readonly key: string;
  canPush: boolean;
  readonly owner: User;
}

export interface Hook {
  readonly id: number;
  url: string;
  token: string;
  signingToken: string;
  /** As in the API: `push_events`. */
  events: Record<string, boolean>;
}

export interface MergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly project: Project;
  /** Undefined when the fork was deleted. */
  source: Project | undefined;
  readonly sourceBranch: string;
  targetBranch: string;
  readonly author: User;
  title: string;
  description: string;
  readonly labels: Set<string>;
  state: 'opened' | 'closed' | 'merged';
  headSha: string;
  removesSource: boolean;
  hasOpenThreads: boolean;
  /** The status that it has, whatever else is so. */
  forced: string | undefined;
  /** The last trial merge, and of which commits. */
  trial: { readonly key: string; readonly isClean: boolean } | undefined;
  /** Newest last. */
  readonly versions: { readonly id: number; readonly headSha: string; readonly createdAt: number }[];
  readonly notes: Note[];
  readonly labelEvents: LabelEvent[];
  readonly approvals: Map<number, number>;
  mergedAt: number | undefined;
  closedAt: number | undefined;
  readonly createdAt: number;
  updatedAt: number;
}

export interface Note {
  readonly id: number;
  readonly author: User;
  body: string;
  readonly isSystem: boolean;
  readonly createdAt: number;
  updatedAt: number;
  readonly awards: { readonly user: User; readonly name: string }[];
}

export interface LabelEvent {
  readonly id: number;
  readonly user: User;
  readonly label: string;
  readonly action: 'add' | 'remove';
  readonly createdAt: number;
}

export interface Pipeline {
  readonly id: number;
  readonly sha: string;
  readonly ref: string;
  readonly source: string;
  status: string;
  readonly user: User;
  readonly jobs: Job[];
  /** Statuses of another CI, which anybody may set who may push. */
  readonly statuses: Job[];
  readonly createdAt: number;
  updatedAt: number;
}

export interface Job {
  readonly id: number;
  readonly name: string;
  status: string;
  readonly user: User;
  description: string | null;
  readonly createdAt: number;
  finishedAt: number | undefined;
}

/** Announced after the state has changed. */
export type Happening = { readonly project: Project; readonly user: User } & (
  | { readonly kind: 'push'; readonly ref: string; readonly before: string; readonly after: string }
  | {
      readonly kind: 'merge_request';
      readonly action: string;
      readonly request: MergeRequest;
      readonly changes?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'note'; readonly request: MergeRequest; readonly note: Note }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  | { readonly kind: 'build'; readonly pipeline: Pipeline; readonly job: Job }
);

export function fullPathOf({ namespace, path }: Project): string {
  return `${namespace}/${path}`;
}

/** By its number or its path, which may be a former one. */
export function findProject(world: World, name: string): Project | undefined {
  if (/^\d+$/.test(name)) return world.projects.get(Number(name));
  const wanted = name.toLowerCase();
  const isIt = (project: Project) => fullPathOf(project).toLowerCase() === wanted;
  return (
    world.projects.values().find(isIt) ?? world.projects.values().find(({ formerPaths }) => formerPaths.has(wanted))
  );
}

export function levelOf(project: Project, user: User | undefined): Level {
  if (user === undefined || user.state === 'blocked') return project.isPrivate ? LEVEL.none : LEVEL.guest;
  return project.members.get(user.id) ?? (project.isPrivate ? LEVEL.none : LEVEL.guest);
}

export function branchHead({ refs }: Project, branch: string): string | undefined {
  return refs.get(`refs/heads/${branch}`);
}

/** A star stands for any text, slashes too. */
export function protectionOf({ protections }: Project, branch: string): Protection | undefined {
  const fits = ({ name }: Protection) =>
    new RegExp(`^${name.replaceAll(/[.+^${}()|\\?[\]]/g, '\\$&').replaceAll('*', '.*')}$`).test(branch);
  return protections.get(branch) ?? protections.values().find(fits);
}

export function isDraft({ title }: MergeRequest): boolean {
  return /^(?:\[draft\]|\(draft\)|draft:)/i.test(title);
}

export function openRequests({ requests }: Project): readonly MergeRequest[] {
  return [...requests.values()].filter(({ state }) => state === 'opened');
}

/** Runs acts of one project one after the other, like pushes. */
export function inTurn<T>(project: Project, act: () => Promise<T>): Promise<T> {
  const result = project.turn.then(act);
  project.turn = result.catch(() => undefined);
  return result;
}
