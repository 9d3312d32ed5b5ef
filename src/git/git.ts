import type { Hooks } from '../lib/hooks.ts';
import type { Sha } from '../lib/sha.ts';

/** A folder on this machine, or a URL that git reaches over ssh or https. */
export type GitLocation = LocalLocation | RemoteLocation;

export interface LocalLocation {
  readonly kind: 'path';
  readonly path: string;
  /** True when branches are changed by a push, which runs the repository's hooks. */
  readonly runHooks?: boolean;
}

export interface RemoteLocation {
  readonly kind: 'url';
  readonly url: string;
  /** The `Authorization` header of each command: git then ignores the operator's credentials and redirects. */
  readonly authorize?: () => Promise<string | undefined>;
  /** Pushes go to another address over ssh, with this key alone. */
  readonly pushBy?: KeyedRemote;
  /** Copied by `refresh`: names, or patterns that end in `/*`. Default: branches, pull requests and candidates. */
  readonly scope?: readonly string[];
  /** Only for tests, together with `authorize`: plain HTTP exposes the header. */
  readonly isHttpAllowed?: boolean;
}

export interface KeyedRemote {
  readonly url: string;
  /** A private key without a passphrase. */
  readonly keyFile: string;
  /** Keys of hosts, which are kept from their first use on. */
  readonly hostsFile: string;
}

export interface GitSource {
  /** Unique on this server and safe as a file name. The mirror's folder is named by it. */
  readonly id: string;
  readonly location: GitLocation;
}

export interface Git {
  /** Throws when the repository cannot be reached. Opening an open repository is free. */
  open(source: GitSource): Promise<GitRepository>;
  /** A sentence why the repository cannot be used, or undefined when it can. */
  findProblem(source: GitSource): Promise<string | undefined>;
  findHooks(location: LocalLocation): Promise<Hooks>;
  close(): Promise<void>;
}

export interface GitRepository extends RefStore, CommitStore {
  /** The same repository with a `refresh` that copies exactly these. */
  focus(refs: readonly string[]): GitRepository;
  /** As a work tree with its own repository. Answers a sentence why it cannot; undefined on success. */
  checkOut(request: WorkTreeRequest): Promise<string | undefined>;
  /** Drops the cached facts of this repository. The next `open` reads them again. */
  forget(): void;
}

/** The refs of a repository, and the copy of a remote's. */
export interface RefStore {
  /** Later reads are at most `maxAgeMs` older than this call. Throws when it takes too long; the fetch goes on. */
  refresh(maxAgeMs?: number): Promise<void>;
  /** Names of refs, patterns that end in `/*`, or commits. A ref that the remote lacks is missing here afterwards. */
  fetch(refs: readonly string[]): Promise<void>;
  /** Lists the source's own refs by full name, or by patterns that end in `/*`. Nothing is copied. */
  listRemoteRefs(patterns: readonly string[]): Promise<readonly RemoteRef[]>;
  /** Refs of any object type that match a pattern of `git for-each-ref`. */
  listRefs(pattern: string): Promise<readonly Ref[]>;
  /** Resolves a full ref name, through tags. Undefined when it leads to no commit. */
  findCommit(ref: string): Promise<Commit | undefined>;
  /** Gives the last answer of `read` again, by its name, until a ref of a folder on this machine may have changed. */
  whileRefsStay<Answer>(name: string, read: () => Promise<Answer>): Promise<Answer>;
  /** Changes all refs or none on this machine. On a remote they change one by one, and `verify` is ignored. */
  changeRefs(changes: readonly RefChange[]): Promise<RefAnswer>;
}

/** Commits by their ids. Every answer holds forever. */
export interface CommitReader {
  /** Reads a commit by its id, with all that is needed to rebuild it. Undefined when the repository lacks it. */
  findStoredCommit(sha: Sha): Promise<StoredCommit | undefined>;
  /** Reads a file of a commit, up to a size limit. Undefined when the file does not exist. */
  findFile(commit: Sha, path: string): Promise<Buffer | undefined>;
  isAncestor(pair: AncestryPair): Promise<boolean>;
  /** Newest first, at most a thousand. */
  listOwn(range: CommitRange): Promise<readonly Sha[]>;
  /** First-parent line of the tip, oldest first. */
  listFirstParents(range: CommitRange): Promise<readonly Sha[]>;
  /** First-parent line with details, newest first. */
  listLine(range: LineRange): Promise<readonly LineCommit[]>;
  /** `Name <email>` of commits that are no merges, oldest first. Reads at most a thousand commits. */
  listAuthors(range: CommitRange): Promise<readonly string[]>;
  /** The changed paths, one character per byte, with a string for their mode and content in `to`. */
  listChanges(pair: TreePair): Promise<ReadonlyMap<string, string>>;
  /** Several where the history crosses, none where the two share no commit. */
  listMergeBases(pair: MergePair): Promise<readonly Sha[]>;
  /** The regular files of a commit that have one of these names, in any folder. Undefined: they are too many. */
  readFiles(search: FileSearch): Promise<readonly NamedFile[] | undefined>;
  /** Merges without writing into the repository. */
  testMerge(pair: MergePair): Promise<TestMerge>;
  /** Undefined if the two merge without a conflict. */
  showConflict(pair: MergePair, maxLength: number): Promise<ConflictHunks | undefined>;
}

/** Commits that are made without a ref to them. */
export interface CommitStore extends CommitReader {
  /** Merges and keeps the tree. */
  merge(pair: MergePair): Promise<TestMerge>;
  /** The same draft gives the same commit. */
  writeCommit(draft: CommitDraft): Promise<Sha>;
  /** Throws unless the whole range exists and is intact. Afterwards its objects survive a power cut. */
  ensureWhole(range: CommitRange): Promise<void>;
}

export interface WorkTreeRequest {
  readonly sha: Sha;
  /** An empty folder. */
  readonly folder: string;
  /** True when the commands there must not read the repository. Then the commit is copied without its history. */
  readonly isIsolated: boolean;
}

export interface Commit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly author: string;
  /** Cut when it is very long. */
  readonly message: string;
}

/** Texts are bytes in the commit's own encoding. */
export interface StoredCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  /** `Name <email> seconds zone`, repaired when malformed. */
  readonly author: Buffer;
  /** `Name <email>` in UTF-8. */
  readonly authorName: string;
  readonly encoding: string | undefined;
  readonly message: Buffer;
}

export type CommitDraft = Pick<StoredCommit, 'tree' | 'parents' | 'author' | 'encoding' | 'message'> & {
  readonly committer: Buffer;
};

/** Commits that the tip has and none of the others has. */
export interface CommitRange {
  readonly tip: Sha;
  readonly without: readonly Sha[];
}

/** First-parent commits of the tip that `since` lacks, at most `limit`. */
export interface LineRange {
  readonly tip: Sha;
  readonly since: Sha;
  readonly limit: number;
  /** The name of a trailer that is read of each commit. */
  readonly trailer: string;
}

export interface LineCommit {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parent: Sha | undefined;
  /** Author and subject are shortened. */
  readonly author: string;
  readonly subject: string;
  /** The value of the trailer that was asked for; empty if the commit has none. */
  readonly trailer: string;
}

/** Trees, or commits that stand for their trees. */
export interface TreePair {
  readonly from: Sha;
  readonly to: Sha;
}

export type RefChange =
  /** With `expected`, the ref moves only from exactly there. */
  | { readonly kind: 'set'; readonly ref: string; readonly sha: Sha; readonly expected?: Sha }
  | { readonly kind: 'delete'; readonly ref: string }
  | { readonly kind: 'verify'; readonly ref: string; readonly sha: Sha };

export type RefAnswer =
  | { readonly kind: 'done' }
  /** A ref had another value than expected, or another process holds its lock. */
  | { readonly kind: 'stale' }
  /** The repository refuses the change. */
  | { readonly kind: 'refused'; readonly detail: string };

export interface Ref {
  readonly name: string;
  readonly sha: Sha;
  readonly type: string;
}

export type RemoteRef = Pick<Ref, 'name' | 'sha'>;

export interface FileSearch {
  readonly commit: Sha;
  /** Letters, digits, dots and dashes. */
  readonly names: readonly string[];
  readonly maxFiles: number;
  readonly maxBytes: number;
}

export interface NamedFile {
  readonly path: string;
  /** Absent for a file that is too large, or would make all of them too large. */
  readonly bytes?: Buffer;
}

export interface MergePair {
  readonly target: Sha;
  readonly head: Sha;
  /** The commit whose `merge=union` counts. Default: the target. */
  readonly attributesOf?: Sha;
}

export interface AncestryPair {
  readonly ancestor: Sha;
  readonly descendant: Sha;
}

export interface ConflictHunks {
  readonly files: readonly string[];
  /** With the marks of git: above, the target's side; below, the other's. */
  readonly text: string;
  readonly isCut: boolean;
}

export type TestMerge =
  | { readonly kind: 'clean'; readonly tree: Sha }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The two share no commit, so git refuses to merge them. */
  | { readonly kind: 'unrelated' };
