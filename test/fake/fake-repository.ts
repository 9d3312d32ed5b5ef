import type { PrNumber, PullRequestFacts } from '../../src/engine/model/pull-request.ts';
import type { LandRequest } from '../../src/forge/forge.ts';
import type { Instant } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { Landed } from './fake-candidates.ts';
import { GitModel } from './git-model.ts';

export interface FakeChange {
  /** New content by path. Undefined removes the file. */
  readonly files: Readonly<Record<string, string | undefined>>;
  readonly message?: string;
  readonly author?: string;
}

export interface OpenRequest extends FakeChange {
  readonly base: string;
  readonly isDraft?: boolean;
  /** The commit that it is on. Absent: the head of its base. */
  readonly on?: Sha | undefined;
}

interface PushedHow {
  readonly isForced?: boolean;
  readonly isUntrusted?: boolean;
  readonly on?: Sha | undefined;
}

export interface FakePullRequest {
  readonly number: PrNumber;
  readonly base: string;
  readonly title: string;
  readonly author: string;
  readonly status: PullRequestFacts['status'];
  readonly isHeadUntrusted: boolean;
  /** The commit that a merge API made. */
  readonly mergedSha?: Sha;
}

/** A move of a branch other than a test branch. `from` and `to` are undefined when the branch does not exist. */
export interface BranchMove {
  readonly at: Instant;
  readonly branch: string;
  readonly from: Sha | undefined;
  readonly to: Sha | undefined;
  readonly tree: Sha | undefined;
  /** Id of the landed candidate, or `foreign`. */
  readonly by: string;
  readonly landing: Landing | undefined;
}

export interface Landing {
  readonly request: LandRequest;
  readonly answer: Landed;
  /** The complete request, when a merge API lands entry by entry. */
  readonly whole?: LandRequest;
}

/** A notification: it tells what to read again, not the new state. */
export type Hint =
  | { readonly kind: 'pull_request_changed'; readonly prNumber: PrNumber }
  | { readonly kind: 'branch_moved'; readonly branch: string }
  | {
      readonly kind: 'candidate_published';
      readonly candidateId: string;
      readonly branch: string;
      readonly sha: Sha;
    }
  | { readonly kind: 'candidate_discarded'; readonly candidateId: string };

/** A repository with its pull requests, and the acts of people on it. Every act is atomic and immediate. */
export class FakeRepository {
  readonly git = new GitModel();
  readonly moves: BranchMove[] = [];
  readonly #now: () => Instant;
  /** Like forges with a merge API, keeps all pull requests and their commits. */
  readonly #keepsAll: boolean;
  readonly #pullRequests = new Map<PrNumber, FakePullRequest>();
  readonly #listeners: ((hint: Hint) => void)[] = [];
  #lastNumber = 0;
  /** Cached, since it is read often. Undefined after a change. */
  #openHeads: ReadonlyMap<PrNumber, Sha> | undefined;

  constructor(now: () => Instant = () => 0, { keepsAll = false }: { readonly keepsAll?: boolean } = {}) {
    this.#now = now;
    this.#keepsAll = keepsAll;
  }

  watch(listener: (hint: Hint) => void): void {
    this.#listeners.push(listener);
  }

  tell(hint: Hint): void {
    if (hint.kind === 'pull_request_changed') this.#openHeads = undefined;
    for (const listener of this.#listeners) listener(hint);
  }

  findHead(branch: string): Sha | undefined {
    return this.git.findRef(branchRef(branch));
  }

  getHead(branch: string): Sha {
    const head = this.findHead(branch);
    if (head === undefined) throw new RangeError(`there is no branch ${branch}`);
    return head;
  }

  /** Adds a commit to a branch. Creates the branch if needed. */
  commit(branch: string, change: FakeChange): Sha {
    const sha = this.#write(this.findHead(branch), change);
    this.moveBranch(branch, sha);
    return sha;
  }

  /** Moves or creates a branch by force. Undefined removes it. */
  moveBranch(branch: string, to: Sha | undefined, landing?: BranchMove['landing']): void {
    const from = this.findHead(branch);
    if (from === to) return;
    this.git.changeRefs([{ ref: branchRef(branch), sha: to }]);
    const tree = to === undefined ? undefined : this.git.getCommit(to).tree;
    const by = landing?.request.candidateId ?? 'foreign';
    this.moves.push({ at: this.#now(), branch, from, to, tree, by, landing });
    this.tell({ kind: 'branch_moved', branch });
    if (to !== undefined) this.#markContained(branch, to);
  }

  /** Opens it from the branch's present head. */
  openPullRequest({ base, isDraft = false, on = this.getHead(base), ...change }: OpenRequest): {
    readonly number: PrNumber;
    readonly headSha: Sha;
  } {
    this.#lastNumber += 1;
    const number = this.#lastNumber as PrNumber;
    const headSha = this.#write(on, change);
    this.git.changeRefs([{ ref: pullRequestRef(number), sha: headSha }]);
    const title = (change.message ?? `Pull request ${number}`).split('\n', 1)[0] ?? '';
    const status = isDraft ? 'draft' : 'open';
    this.#pullRequests.set(number, {
      number,
      base,
      title,
      author: change.author ?? 'Ada',
      status,
      isHeadUntrusted: false,
    });
    this.tell({ kind: 'pull_request_changed', prNumber: number });
    return { number, headSha };
  }

  /** Pushes on top of its head. A forced push starts from `on`, or from the base's head. */
  push(number: PrNumber, change: FakeChange, how: PushedHow = {}): Sha {
    const { base } = this.#get(number);
    const start = how.isForced === true ? (how.on ?? this.getHead(base)) : this.getPullRequestHead(number);
    const sha = this.#write(start, change);
    this.#setHead(number, sha);
    this.#change(number, { isHeadUntrusted: how.isUntrusted === true });
    return sha;
  }

  /** Merges the base into it. Undefined when that conflicts or changes nothing. */
  updatePullRequest(number: PrNumber, message = 'Update the branch'): Sha | undefined {
    const head = this.getPullRequestHead(number);
    const base = this.findHead(this.#get(number).base);
    if (base === undefined || this.git.isAncestor(base, head)) return undefined;
    const merge = this.git.merge(head, base);
    if (merge.kind !== 'clean') return undefined;
    const draft = { parents: [head, base], tree: merge.tree, author: 'Ada', message };
    const { sha } = this.git.writeCommit({ ...draft, at: this.#now() });
    this.#setHead(number, sha);
    this.#change(number, {});
    return sha;
  }

  close(number: PrNumber): void {
    if (this.isOpen(number)) this.#change(number, { status: 'closed' });
  }

  reopen(number: PrNumber): void {
    if (this.#get(number).status === 'closed') this.#change(number, { status: 'open' });
  }

  setDraft(number: PrNumber, isDraft: boolean): void {
    if (this.isOpen(number)) this.#change(number, { status: isDraft ? 'draft' : 'open' });
  }

  retarget(number: PrNumber, base: string): void {
    if (this.isOpen(number)) this.#change(number, { base });
  }

  /** Removes every trace of it. */
  deletePullRequest(number: PrNumber): void {
    if (this.#keepsAll) return this.close(number);
    this.#pullRequests.delete(number);
    this.git.changeRefs([{ ref: pullRequestRef(number), sha: undefined }]);
    this.tell({ kind: 'pull_request_changed', prNumber: number });
  }

  /** Merges past the queue. False when it is not open or conflicts. */
  mergeByHand(number: PrNumber, method: 'MERGE_COMMIT' | 'SQUASH' = 'MERGE_COMMIT'): boolean {
    const { base, title, author } = this.#get(number);
    const [head, target] = [this.getPullRequestHead(number), this.findHead(base)];
    if (!this.isOpen(number) || target === undefined) return false;
    const merge = this.git.merge(target, head);
    if (merge.kind !== 'clean') return false;
    const parents = method === 'SQUASH' ? [target] : [target, head];
    const message = `${title} by hand`;
    const { sha } = this.git.writeCommit({ parents, tree: merge.tree, author, message, at: this.#now() });
    this.moveBranch(base, sha);
    this.markMerged(number);
    return true;
  }

  markMerged(number: PrNumber): void {
    if (this.isOpen(number)) this.#change(number, { status: 'merged' });
  }

  /** A merge API merged it as this commit. */
  recordMerge(number: PrNumber, mergedSha: Sha): void {
    this.#change(number, { status: 'merged', mergedSha });
  }

  isOpen(number: PrNumber): boolean {
    const status = this.#pullRequests.get(number)?.status;
    return status === 'open' || status === 'draft';
  }

  findPullRequest(number: PrNumber): FakePullRequest | undefined {
    return this.#pullRequests.get(number);
  }

  listPullRequests(): readonly FakePullRequest[] {
    return [...this.#pullRequests.values()];
  }

  listOpenHeads(): ReadonlyMap<PrNumber, Sha> {
    const open = () => [...this.#pullRequests.keys()].filter((number) => this.isOpen(number));
    this.#openHeads ??= new Map(open().map((number) => [number, this.getPullRequestHead(number)]));
    return this.#openHeads;
  }

  findPullRequestHead(number: PrNumber): Sha | undefined {
    return this.git.findRef(pullRequestRef(number));
  }

  getPullRequestHead(number: PrNumber): Sha {
    const head = this.findPullRequestHead(number);
    if (head === undefined) throw new RangeError(`there is no pull request ${number}`);
    return head;
  }

  #get(number: PrNumber): FakePullRequest {
    const known = this.#pullRequests.get(number);
    if (known === undefined) throw new RangeError(`there is no pull request ${number}`);
    return known;
  }

  #setHead(number: PrNumber, sha: Sha): void {
    const old = this.findPullRequestHead(number);
    if (this.#keepsAll && old !== undefined) this.git.changeRefs([{ ref: `refs/kept/${old}`, sha: old }]);
    this.git.changeRefs([{ ref: pullRequestRef(number), sha }]);
  }

  #change(number: PrNumber, change: Partial<FakePullRequest>): void {
    this.#pullRequests.set(number, { ...this.#get(number), ...change });
    this.tell({ kind: 'pull_request_changed', prNumber: number });
  }

  /** A forge marks a pull request as merged when its base contains its head, whoever pushed. */
  #markContained(branch: string, head: Sha): void {
    for (const { number, base } of this.#pullRequests.values()) {
      if (base !== branch || !this.isOpen(number)) continue;
      if (this.git.isAncestor(this.getPullRequestHead(number), head)) this.markMerged(number);
    }
  }

  #write(parent: Sha | undefined, { files, message = 'Change something', author = 'Ada' }: FakeChange): Sha {
    const content = new Map(parent === undefined ? [] : this.git.getFiles(parent));
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) content.delete(path);
      else content.set(path, text);
    }
    const parents = parent === undefined ? [] : [parent];
    return this.git.writeCommit({ parents, tree: this.git.writeTree(content), author, message, at: this.#now() }).sha;
  }
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

function pullRequestRef(number: PrNumber): string {
  return `refs/pull/${number}/head`;
}
