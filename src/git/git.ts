import type { Sha } from '../engine/pull-request.ts';

/** Where a repository is: a folder of this machine, or a URL that git reaches over ssh or https. */
export type GitLocation =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string };

export interface GitSource {
  /** Unique on this server and safe as a file name: Sluice's own mirror is named by it. */
  readonly id: string;
  readonly location: GitLocation;
}

export interface Git {
  /** Faults where the repository cannot be reached. Opening it again costs nothing. */
  open(source: GitSource): Promise<GitRepository>;
  /** Why the repository cannot be used, as a sentence, or undefined when it can. */
  findProblem(source: GitSource): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface GitRepository {
  /**
   * Brings refs up to date where they are copies. What is read afterwards is no older than this call, or than
   * `maxAgeMs` before it. Faults where that takes too long to wait for; the copying goes on.
   */
  refresh(maxAgeMs?: number): Promise<void>;
  /** The commit a full ref name leads to, through tags; undefined where it leads to none. */
  findCommit(ref: string): Promise<Commit | undefined>;
  /** Refs that match a pattern of `git for-each-ref`, whatever they point at. */
  listRefs(pattern: string): Promise<readonly Ref[]>;
  /** What merging `head` into `target` would give. Nothing is written into the repository. */
  testMerge(pair: MergePair): Promise<TestMerge>;
  isAncestor(pair: AncestryPair): Promise<boolean>;
  /** Drops what was learned about the repository when it was opened: the next `open` looks again. */
  forget(): void;
}

export interface Commit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly author: string;
  /** Cut where it is very long. */
  readonly message: string;
}

export interface Ref {
  readonly name: string;
  readonly sha: Sha;
  readonly type: string;
}

export interface MergePair {
  readonly target: Sha;
  readonly head: Sha;
}

export interface AncestryPair {
  readonly ancestor: Sha;
  readonly descendant: Sha;
}

export type TestMerge =
  | { readonly kind: 'clean'; readonly tree: Sha }
  | { readonly kind: 'conflict' }
  /** The two share no commit, and git refuses to merge them. */
  | { readonly kind: 'unrelated' };
