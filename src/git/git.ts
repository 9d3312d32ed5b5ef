import type { Sha } from '../lib/sha.ts';

/** Where a repository is: a folder of this machine, or a URL that git reaches over ssh or https. */
export type GitLocation = LocalLocation | RemoteLocation;

export interface LocalLocation {
  readonly kind: 'path';
  readonly path: string;
  /** Whether branches are changed as a push changes them, which runs the repository's hooks. */
  readonly runHooks?: boolean;
}

export interface RemoteLocation {
  readonly kind: 'url';
  readonly url: string;
  /**
   * The value of an `Authorization` header, asked before every command that speaks to the remote. Where a location has
   * this, git uses no other credentials, whatever the operator has set up, and follows no redirect with it.
   */
  readonly authorize?: () => Promise<string | undefined>;
  /** What `refresh` copies: names of refs, or patterns that end in `/*`. Without: branches, pull requests, candidates. */
  readonly scope?: readonly string[];
  /** With `authorize`, and for tests only: what is sent can be read on the way. */
  readonly isHttpAllowed?: boolean;
}

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
  /** The hooks of a repository on this machine. */
  findHooks(location: LocalLocation): Promise<Hooks>;
  close(): Promise<void>;
}

export interface Hooks {
  /** Those that a push runs, in the order in which it does. */
  readonly names: readonly string[];
  /** Those that git passes over. */
  readonly notExecutable: readonly string[];
  /** Why they must not run, as the end of a sentence; undefined where they may. */
  readonly problem: string | undefined;
}

/** What happened to hooks besides what the change of a ref answers. `source` is the id of the repository. */
export type HookNews =
  | { readonly kind: 'off'; readonly source: string; readonly problem: string }
  /** Of hooks after the ref was changed: they went on for too long. */
  | { readonly kind: 'stopped'; readonly source: string; readonly ref: string; readonly words: string }
  | { readonly kind: 'printed'; readonly source: string; readonly ref: string; readonly words: string };

export interface GitRepository {
  /**
   * Brings refs up to date where they are copies. What is read afterwards is no older than this call, or than
   * `maxAgeMs` before it. Faults where that takes too long to wait for; the copying goes on.
   */
  refresh(maxAgeMs?: number): Promise<void>;
  /**
   * Copies exactly these: names of refs, patterns that end in `/*`, or commits. One that the remote does not have is no
   * error: it is not there afterwards either.
   */
  fetch(refs: readonly string[]): Promise<void>;
  /** The same repository, whose `refresh` copies exactly these. */
  focus(refs: readonly string[]): GitRepository;
  /** Refs of the source itself that match full names, or patterns that end in `/*`. Nothing is copied. */
  listRemoteRefs(patterns: readonly string[]): Promise<readonly RemoteRef[]>;
  /** The commit a full ref name leads to, through tags; undefined where it leads to none. */
  findCommit(ref: string): Promise<Commit | undefined>;
  /** Refs that match a pattern of `git for-each-ref`, whatever they point at. */
  listRefs(pattern: string): Promise<readonly Ref[]>;
  /** What merging `head` into `target` would give. Nothing is written into the repository. */
  testMerge(pair: MergePair): Promise<TestMerge>;
  isAncestor(pair: AncestryPair): Promise<boolean>;
  /** A commit by its name, as it can be made again; undefined where the repository does not have it. */
  findStoredCommit(sha: Sha): Promise<StoredCommit | undefined>;
  /** A file of a commit; undefined where there is none. Cut where it is longer than anyone reads. */
  findFile(commit: Sha, path: string): Promise<Buffer | undefined>;
  /** Merges as `testMerge` does and keeps the tree, which no ref leads to yet. */
  merge(pair: MergePair): Promise<TestMerge>;
  /** The same draft gives the same commit. No ref leads to it yet. */
  writeCommit(draft: CommitDraft): Promise<Sha>;
  /** Commits of the tip's own line (first parents), oldest first. */
  listFirstParents(range: CommitRange): Promise<readonly Sha[]>;
  /** The same line with what its commits are, newest first. */
  listLine(range: LineRange): Promise<readonly LineCommit[]>;
  /** `Name <email>` of the commits that are no merges, oldest first. Not more than a thousand commits are looked at. */
  listAuthors(range: CommitRange): Promise<readonly string[]>;
  /** Paths that differ, each byte of them a character, with what stands for their mode and content in `to`. */
  listChanges(pair: TreePair): Promise<ReadonlyMap<string, string>>;
  /** Faults unless every object that the range brings is there and sound; a power cut cannot take them any more. */
  ensureWhole(range: CommitRange): Promise<void>;
  /** All changes or, on this machine, none. A remote takes them one by one, and verifies nothing else. */
  changeRefs(changes: readonly RefChange[]): Promise<RefAnswer>;
  /**
   * Fills an empty folder with the files of a commit, as a work tree with a repository of its own. Answers the sentence
   * why that is impossible with this commit, or undefined when it is done.
   */
  checkOut(request: WorkTreeRequest): Promise<string | undefined>;
  /** Drops what was learned about the repository when it was opened: the next `open` looks again. */
  forget(): void;
}

export interface WorkTreeRequest {
  readonly sha: Sha;
  /** An empty folder. */
  readonly folder: string;
  /** Whether whoever works there may not read the repository: the commit, without its history, is copied then. */
  readonly isIsolated: boolean;
}

export interface Commit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly author: string;
  /** Cut where it is very long. */
  readonly message: string;
}

/** Texts of a commit are bytes in an encoding of its own choice. */
export interface StoredCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  /** `Name <email> seconds zone`, made well-formed where it is not. */
  readonly author: Buffer;
  /** `Name <email>` for whoever writes UTF-8. */
  readonly authorName: string;
  readonly encoding: string | undefined;
  readonly message: Buffer;
}

export type CommitDraft = Pick<StoredCommit, 'tree' | 'parents' | 'author' | 'encoding' | 'message'> & {
  readonly committer: Buffer;
};

/** Everything the tip has that none of the others has. */
export interface CommitRange {
  readonly tip: Sha;
  readonly without: readonly Sha[];
}

/** What the tip's line has and `since` does not, at most so much. */
export interface LineRange {
  readonly tip: Sha;
  readonly since: Sha;
  readonly limit: number;
}

export interface LineCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parent: Sha | undefined;
  /** These two: cut where they are long. */
  readonly author: string;
  readonly subject: string;
}

/** Trees, or commits for theirs. */
export interface TreePair {
  readonly from: Sha;
  readonly to: Sha;
}

export type RefChange =
  /** With `expected`: only from exactly there. */
  | { readonly kind: 'set'; readonly ref: string; readonly sha: Sha; readonly expected?: Sha }
  | { readonly kind: 'delete'; readonly ref: string }
  | { readonly kind: 'verify'; readonly ref: string; readonly sha: Sha };

export type RefAnswer =
  | { readonly kind: 'done' }
  /** A ref was not where it was expected, or somebody was about to change it. */
  | { readonly kind: 'stale' }
  /** The repository does not allow it. */
  | { readonly kind: 'refused'; readonly detail: string };

export interface Ref {
  readonly name: string;
  readonly sha: Sha;
  readonly type: string;
}

export type RemoteRef = Pick<Ref, 'name' | 'sha'>;

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
