import {
  addStatus,
  addSuite,
  type CheckFields,
  checksOf,
  createCheck,
  ensureSuite,
  type StatusDraft,
  updateCheck,
} from './checks.ts';
import { addComment, deleteComment, editComment } from './comments.ts';
import { addLabel, removeLabel } from './labels.ts';
import { type Files, type MakeCommit, makeCommit } from './make-commit.ts';
import { mergePullRequest } from './merge.ts';
import type {
  App,
  CheckRun,
  Comment,
  CommitStatus,
  MergeMethod,
  PullRequest,
  Repository,
  Review,
  Role,
  WorkflowRun,
  World,
} from './model.ts';
import { Owners } from './owners-acts.ts';
import { closePullRequest } from './pull-request-state.ts';
import { editPullRequest, openPullRequest, type PullRequestEdit, reopenPullRequest, setDraft } from './pulls.ts';
import { branchHead, moveRefs } from './refs.ts';
import { createRepository, forkRepository, type RepositoryOptions } from './repositories.ts';
import { addReview } from './reviews.ts';
import { type RunDraft, startRun } from './workflow-runs.ts';
import { inTurn } from './world.ts';

const SECOND_MS = 1_000;

export interface OpenOptions {
  /** Default: a new branch from the base. */
  readonly branch?: string;
  /** Files to commit before opening. Default for a new branch: one new file. */
  readonly files?: Files;
  readonly title?: string;
  readonly body?: string;
  readonly base?: string;
  readonly author?: string;
  readonly isDraft?: boolean;
  /** The fork that contains the branch. */
  readonly from?: Repository;
}

export interface CheckDraft extends Omit<CheckFields, 'name'> {
  readonly sha: string;
  readonly name: string;
  /** Default: GitHub Actions. */
  readonly app?: App;
  /** Each attempt is a separate check in the same suite, as when a workflow is run again. */
  readonly attempt?: number;
  /** A further check of that name in its own suite, as from another workflow. */
  readonly isOtherSuite?: boolean;
}

/** Acts of people and CI on GitHub, as done with a mouse. Names are logins; unknown ones are created. */
export class People extends Owners {
  /** GitHub Actions. */
  readonly ci: App;

  constructor(world: World, ci: App) {
    super(world);
    this.ci = ci;
  }

  /** Creates it with a first commit on its default branch. */
  async createRepository(
    fullName: string,
    options: RepositoryOptions & { readonly files?: Files; readonly roles?: Readonly<Record<string, Role>> } = {},
  ): Promise<Repository> {
    const repository = await createRepository(this.world, fullName, options);
    for (const [login, role] of Object.entries(options.roles ?? {}))
      repository.roles.set(this.user(login).login.toLowerCase(), role);
    const files = options.files ?? { 'README.md': `# ${fullName}\n` };
    await makeCommit(this.world, repository, repository.owner, {
      branch: repository.defaultBranch,
      files,
      message: 'Begin',
    });
    return repository;
  }

  fork(parent: Repository, login: string): Promise<Repository> {
    return forkRepository(this.world, parent, login);
  }

  /** A new branch starts at the default branch. */
  commit(repository: Repository, draft: MakeCommit & { readonly author?: string }): Promise<string> {
    const author = this.user(draft.author ?? repository.owner.login);
    return inTurn(repository, () => {
      const parent =
        draft.parent ?? branchHead(repository, draft.branch) ?? branchHead(repository, repository.defaultBranch);
      return makeCommit(this.world, repository, author, { ...draft, parent });
    });
  }

  /** Undefined deletes the branch. */
  async moveBranch(repository: Repository, branch: string, sha: string | undefined, by?: string): Promise<void> {
    const sender = this.user(by ?? repository.owner.login);
    await inTurn(repository, () =>
      moveRefs(this.world, repository, sender, [{ ref: `refs/heads/${branch}`, after: sha }]),
    );
  }

  async openPullRequest(repository: Repository, options: OpenOptions = {}): Promise<PullRequest> {
    const { base = repository.defaultBranch, from: headRepository = repository } = options;
    const branch = options.branch ?? `change-${repository.nextNumber}`;
    const author = this.user(options.author ?? headRepository.owner.login);
    const isNew = branchHead(headRepository, branch) === undefined;
    const files = options.files ?? (isNew ? { [`${branch}.txt`]: `${branch}\n` } : undefined);
    const title = options.title ?? `Change ${branch}`;
    if (files !== undefined) {
      const parent = isNew ? branchHead(headRepository, base) : undefined;
      await this.commit(headRepository, { branch, files, message: title, author: author.login, parent });
    }
    return openPullRequest(this.world, repository, author, {
      title,
      body: options.body,
      headRepository,
      headRef: branch,
      baseRef: base,
      isDraft: options.isDraft,
    });
  }

  /** Adds a commit to the pull request's branch. `isForced` replaces the last one. */
  async push(pr: PullRequest, files: Files, options: { readonly isForced?: boolean; readonly by?: string } = {}) {
    const { headRepository, headRef: branch, headSha } = pr;
    if (headRepository === undefined) throw new Error('The fork is gone.');
    const parent = options.isForced === true ? `${headSha}^` : headSha;
    const message = `Change ${Object.keys(files).join(', ')}`;
    return this.commit(headRepository, { branch, files, message, parent, author: options.by ?? pr.author.login });
  }

  review(pr: PullRequest, login: string, state: Review['state'] = 'APPROVED'): Review {
    return addReview(this.world, pr, this.user(login), state);
  }

  comment(pr: PullRequest, login: string, body: string): Comment {
    return addComment(this.world, pr, { author: this.user(login), body });
  }

  editComment(pr: PullRequest, comment: Comment, body: string, by = comment.author.login): void {
    editComment(this.world, { pr, comment }, this.user(by), body);
  }

  deleteComment(pr: PullRequest, comment: Comment, by = comment.author.login): void {
    deleteComment(this.world, { pr, comment }, this.user(by));
  }

  label(pr: PullRequest, login: string, name: string): void {
    addLabel(this.world, pr, this.user(login), name);
  }

  unlabel(pr: PullRequest, login: string, name: string): void {
    removeLabel(this.world, pr, this.user(login), name);
  }

  edit(pr: PullRequest, edit: PullRequestEdit, by = pr.author.login): void {
    editPullRequest(this.world, pr, this.user(by), edit);
  }

  retarget(pr: PullRequest, base: string, by = pr.author.login): void {
    this.edit(pr, { base }, by);
  }

  closePullRequest(pr: PullRequest, by = pr.author.login): void {
    closePullRequest(this.world, pr, this.user(by));
  }

  reopen(pr: PullRequest, by = pr.author.login): Promise<void> {
    return reopenPullRequest(this.world, pr, this.user(by));
  }

  convertToDraft(pr: PullRequest, by = pr.author.login): void {
    setDraft(this.world, pr, this.user(by), true);
  }

  markReady(pr: PullRequest, by = pr.author.login): void {
    setDraft(this.world, pr, this.user(by), false);
  }

  /** Merges like the button, which overrides no rule that binds this person. */
  mergeByHand(pr: PullRequest, by: string, method: MergeMethod = 'merge'): Promise<string> {
    return mergePullRequest(this.world, pr, { kind: 'user', user: this.user(by) }, { method });
  }

  /** The same app, commit, name and attempt update the same check. */
  reportCheck(repository: Repository, draft: CheckDraft): CheckRun {
    const { sha, app = this.ci, attempt = 1, isOtherSuite = false, ...fields } = draft;
    const known = checksOf(repository, sha).filter(({ name, suite }) => name === draft.name && suite.app === app);
    const found = isOtherSuite ? undefined : known[attempt - 1];
    if (found !== undefined) {
      updateCheck(this.world, repository, found, fields);
      return found;
    }
    const make = isOtherSuite ? addSuite : ensureSuite;
    const suite = make(this.world, repository, app, sha);
    // GitHub's timestamps have whole seconds, and a person cannot rerun a check within one.
    const last = isOtherSuite ? undefined : known.at(-1)?.startedAt;
    const startedAt = last === undefined ? this.world.now() : Math.max(this.world.now(), last + SECOND_MS);
    return createCheck(this.world, repository, suite, { startedAt, ...fields });
  }

  setStatus(repository: Repository, draft: StatusDraft & { readonly by?: string }): CommitStatus {
    const { by = repository.owner.login, ...status } = draft;
    return addStatus(this.world, repository, this.user(by), status);
  }

  startRun(repository: Repository, draft: Omit<RunDraft, 'app' | 'actor'> & { readonly actor?: string }): WorkflowRun {
    const actor = this.user(draft.actor ?? repository.owner.login);
    return startRun(this.world, repository, { ...draft, app: this.ci, actor });
  }

  listComments(pr: PullRequest): readonly Comment[] {
    return pr.comments;
  }

  listChecks(repository: Repository, sha: string): readonly CheckRun[] {
    return checksOf(repository, sha);
  }

  refs(repository: Repository): ReadonlyMap<string, string> {
    return repository.refs;
  }
}
