import type { PrNumber, PullRequestFacts } from '../../src/engine/pull-request.ts';
import type { LandRequest } from '../../src/forge/forge.ts';
import type { Instant } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { Landed } from './fake-candidates.ts';
import { GitModel } from './git-model.ts';

export interface FakeChange {
  /** Path -> new content; undefined removes it. */
  readonly files: Readonly<Record<string, string | undefined>>;
  readonly message?: string;
  readonly author?: string;
}

export interface OpenRequest extends FakeChange {
  readonly base: string;
  readonly isDraft?: boolean;
}

export interface FakePullRequest {
  readonly number: PrNumber;
  readonly base: string;
  readonly title: string;
  readonly author: string;
  readonly status: PullRequestFacts['status'];
  readonly isHeadUntrusted: boolean;
  /** What a merge API made of it. */
  readonly mergedSha?: Sha;
}

/** A branch was moved; test branches are not told. `from` and `to` are undefined where there is no branch. */
export interface BranchMove {
  readonly at: Instant;
  readonly branch: string;
  readonly from: Sha | undefined;
  readonly to: Sha | undefined;
  readonly tree: Sha | undefined;
  /** The id of the candidate that landed, or `foreign`. */
  readonly by: string;
  readonly landing: Landing | undefined;
}

export interface Landing {
  readonly request: LandRequest;
  readonly answer: Landed;
  /** Where a merge API lands one by one: all that it was asked to land. */
  readonly whole?: LandRequest;
}

/** What a forge tells whoever subscribed: the reason to look, not the answer. */
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

/** A repository with its pull requests, and what people do to it. Everything happens at once, or not at all. */
export class FakeRepository {
  readonly git = new GitModel();
  readonly moves: BranchMove[] = [];
  readonly #now: () => Instant;
  /** As forges with a merge API do: pull requests and their commits stay, whatever becomes of them. */
  readonly #keepsAll: boolean;
  readonly #pullRequests = new Map<PrNumber, FakePullRequest>();
  readonly #listeners: ((hint: Hint) => void)[] = [];
  #lastNumber = 0;
  /** Asked for again and again; undefined once something changed. */
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

  /** Adds a commit to a branch, which need not exist. */
  commit(branch: string, change: FakeChange): Sha {
    const sha = this.#write(this.findHead(branch), change);
    this.moveBranch(branch, sha);
    return sha;
  }

  /** Moves, makes or (undefined) removes a branch, by force. */
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

  /** From the branch's present head. */
  openPullRequest({ base, isDraft = false, ...change }: OpenRequest): {
    readonly number: PrNumber;
    readonly headSha: Sha;
  } {
    this.#lastNumber += 1;
    const number = this.#lastNumber as PrNumber;
    const headSha = this.#write(this.getHead(base), change);
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

  /** On top of its head or, forced, anew from its base's head. */
  push(number: PrNumber, change: FakeChange, how: { isForced?: boolean; isUntrusted?: boolean } = {}): Sha {
    const { base } = this.#get(number);
    const sha = this.#write(how.isForced === true ? this.getHead(base) : this.getPullRequestHead(number), change);
    this.#setHead(number, sha);
    this.#change(number, { isHeadUntrusted: how.isUntrusted === true });
    return sha;
  }

  /** Merges its base into it; undefined where that conflicts or there is nothing to merge. */
  updatePullRequest(number: PrNumber): Sha | undefined {
    const head = this.getPullRequestHead(number);
    const base = this.findHead(this.#get(number).base);
    if (base === undefined || this.git.isAncestor(base, head)) return undefined;
    const merge = this.git.merge(head, base);
    if (merge.kind !== 'clean') return undefined;
    const draft = { parents: [head, base], tree: merge.tree, author: 'Ada', message: 'Update the branch' };
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

  /** As if it never was. */
  deletePullRequest(number: PrNumber): void {
    if (this.#keepsAll) return this.close(number);
    this.#pullRequests.delete(number);
    this.git.changeRefs([{ ref: pullRequestRef(number), sha: undefined }]);
    this.tell({ kind: 'pull_request_changed', prNumber: number });
  }

  /** Past the queue; false where it is not open or conflicts. */
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

  /** By a merge API, as this commit. */
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

  /** A forge calls a pull request merged as soon as its base has its head, whoever pushed it there. */
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
