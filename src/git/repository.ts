import { BoundedCache } from '../lib/bounded-cache.ts';
import { Fault } from '../lib/fault.ts';
import { Remembered } from '../lib/remembered.ts';
import type { Sha } from '../lib/sha.ts';
import type { CatFileAnswer } from './cat-file-batch.ts';
import { formatCommit, parseCommit, parseStoredCommit } from './commit.ts';
import { checkReadable, hasLooseRef, hasPackedRef, unreadable } from './folder.ts';
import { forEachRef } from './for-each-ref.ts';
import type {
  AncestryPair,
  Commit,
  CommitDraft,
  CommitRange,
  GitRepository,
  LineCommit,
  LineRange,
  MergePair,
  Ref,
  RefAnswer,
  RefChange,
  RemoteRef,
  StoredCommit,
  TestMerge,
  TreePair,
  WorkTreeRequest,
} from './git.ts';
import {
  diffTrees,
  isAncestor,
  listCommits,
  listFirstParents,
  listLine,
  listMergeBases,
  listObjects,
} from './history.ts';
import type { KeptProcess } from './kept-process.ts';
import { settleLooseObjects, writeLooseObject } from './loose-object.ts';
import { mergeTreeOnce } from './merge-tree.ts';
import type { Mirror } from './mirror.ts';
import type { RefTimes } from './ref-times.ts';
import { StraightHistory } from './straight-history.ts';
import type { RefUpdater } from './update-ref.ts';
import { checkOut } from './work-tree.ts';

export interface RepositoryParts {
  /** The folder that refs are read from: the source if it is on this machine, else the mirror. */
  readonly gitDir: string;
  readonly objectsDir: string;
  readonly mirror: Mirror;
  readonly catFile: KeptProcess<CatFileAnswer>;
  /** Both are undefined when this git cannot answer one merge at a time. */
  readonly testMergeTree: KeptProcess<TestMerge> | undefined;
  readonly mergeTree: KeptProcess<TestMerge> | undefined;
  readonly refs: RefUpdater;
  /** Undefined for a remote, whose refs are not on this machine. */
  readonly times: RefTimes | undefined;
  /** True when this git merges a commit whose tree is lost as if it had no files. */
  readonly mergesLostTrees: boolean;
  readonly source: Source;
  forget(): void;
}

export interface Source {
  /** The refs that a refresh copies. */
  readonly scope: readonly string[];
  /** Resolves when they were fetched after the call, or at most `maxAgeMs` before it. */
  fetch(refs: readonly string[], maxAgeMs: number): Promise<void>;
  listRefs(patterns: readonly string[]): Promise<readonly RemoteRef[]>;
}

interface MergeTools {
  readonly kept: KeptProcess<TestMerge> | undefined;
  readonly keepIn: string | undefined;
}

/** Two commit ids decide a merge forever, so the cache never becomes stale. The size bounds it to a few MB. */
const CACHED_PAIRS = 10_000;
/** A commit never changes either. Commits with long messages are not worth the memory. */
const CACHED_COMMITS = 5_000;
const MAX_CACHED_COMMIT_BYTES = 2_048;
const LISTED_MS = 3_000;

/** Caches that never become stale, shared by all views of one repository. */
interface Memory {
  readonly merges: Remembered<TestMerge>;
  readonly commits: BoundedCache<Sha, Commit>;
  readonly ancestry: Remembered<boolean>;
  readonly bases: Remembered<readonly Sha[]>;
  readonly history: StraightHistory;
}

const NOTHING_STAYED = { version: undefined, answers: new Map<string, Promise<unknown>>() };

export class CliRepository implements GitRepository {
  readonly #parts: RepositoryParts;
  readonly #memory: Memory;
  #listed: { readonly names: ReadonlySet<string>; readonly atMs: number } | undefined;
  #stayed: { readonly version: number | undefined; readonly answers: Map<string, Promise<unknown>> } = NOTHING_STAYED;
  /** Questions of this event loop turn. Half of all pull requests ask for the same branch. */
  readonly #unsent = new Map<string, Promise<Commit | undefined>>();

  constructor(parts: RepositoryParts, memory = createMemory(parts)) {
    this.#parts = parts;
    this.#memory = memory;
  }

  refresh(maxAgeMs = 0): Promise<void> {
    return this.#parts.source.fetch(this.#parts.source.scope, maxAgeMs);
  }

  fetch(refs: readonly string[]): Promise<void> {
    return this.#parts.source.fetch(refs, 0);
  }

  focus(refs: readonly string[]): GitRepository {
    return new CliRepository({ ...this.#parts, source: { ...this.#parts.source, scope: refs } }, this.#memory);
  }

  listRemoteRefs(patterns: readonly string[]): Promise<readonly RemoteRef[]> {
    return this.#parts.source.listRefs(patterns);
  }

  findCommit(ref: string): Promise<Commit | undefined> {
    const known = this.#unsent.get(ref);
    if (known !== undefined) return known;
    const commit = this.#findCommit(ref);
    // The questions are sent by then. A later caller may need a newer answer.
    if (this.#unsent.size === 0) setImmediate(() => this.#unsent.clear());
    this.#unsent.set(ref, commit);
    return commit;
  }

  async #findCommit(ref: string): Promise<Commit | undefined> {
    const shadowNames = this.#wasListed(ref) ? [] : shadowsOf(ref);
    const [answer, ...shadows] = await this.#parts.catFile.ask([`${ref}^{commit}`, ...shadowNames]);
    const isShadowed = shadows.some((shadow) => shadow.kind !== 'none');
    if (answer?.kind === 'object' && !isShadowed) return this.#parse(answer.sha, answer.bytes);
    return this.#findCommitSlowly(ref, isShadowed);
  }

  // SPEC E35
  async whileRefsStay<Answer>(name: string, read: () => Promise<Answer>): Promise<Answer> {
    // Before the refs are read: a change in between makes the next call read them again.
    const version = await this.#parts.times?.findVersion();
    if (version === undefined) return read();
    if (this.#stayed.version !== version) this.#stayed = { version, answers: new Map() };
    const { answers } = this.#stayed;
    const answer = (answers.get(name) as Promise<Answer> | undefined) ?? read();
    answers.set(name, answer);
    answer.catch(() => answers.delete(name));
    return answer;
  }

  async listRefs(pattern: string): Promise<readonly Ref[]> {
    await checkReadable(this.#parts.gitDir, this.#parts.objectsDir);
    const refs = await forEachRef(this.#parts.gitDir, pattern);
    this.#listed = { names: new Set(refs.map((ref) => ref.name)), atMs: performance.now() };
    return refs;
  }

  testMerge(pair: MergePair): Promise<TestMerge> {
    return this.#memory.merges.get(`${pair.target} ${pair.head}`, () =>
      this.#merge(pair, { kept: this.#parts.testMergeTree, keepIn: undefined }),
    );
  }

  merge(pair: MergePair): Promise<TestMerge> {
    return this.#merge(pair, { kept: this.#parts.mergeTree, keepIn: this.#parts.objectsDir });
  }

  async findStoredCommit(sha: Sha): Promise<StoredCommit | undefined> {
    const [answer] = await this.#parts.catFile.ask([sha]);
    if (answer?.kind === 'object' && answer.type === 'commit') {
      const commit = parseStoredCommit(sha, answer.bytes);
      this.#memory.history.learn(commit);
      return commit;
    }
    if (answer?.kind === 'object') return undefined;
    await checkReadable(this.#parts.gitDir, this.#parts.objectsDir);
    return undefined;
  }

  async findFile(commit: Sha, path: string): Promise<Buffer | undefined> {
    const [tree, file] = await this.#parts.catFile.ask([`${commit}^{tree}`, `${commit}:${path}`]);
    if (tree?.kind !== 'object') throw damaged();
    return file?.kind === 'object' && file.type === 'blob' ? file.bytes : undefined;
  }

  writeCommit(draft: CommitDraft): Promise<Sha> {
    const { objectsDir, mirror } = this.#parts;
    return writeLooseObject({ ...mirror, objectsDir }, 'commit', formatCommit(draft));
  }

  async listFirstParents(range: CommitRange): Promise<readonly Sha[]> {
    const line = await this.#memory.history.findOwnLine(range);
    return line?.map(({ sha }) => sha).toReversed() ?? listFirstParents(this.#parts.mirror, range);
  }

  listLine(range: LineRange): Promise<readonly LineCommit[]> {
    return listLine(this.#parts.mirror, range);
  }

  async listAuthors(range: CommitRange): Promise<readonly string[]> {
    const own = await this.#memory.history.findOwnCommits(range);
    if (own !== undefined) return own.map(({ authorName }) => authorName).toReversed();
    const answers = await this.#parts.catFile.ask(await listCommits(this.#parts.mirror, range));
    return answers.flatMap((answer) =>
      answer.kind === 'object' ? [parseStoredCommit(answer.sha, answer.bytes).authorName] : [],
    );
  }

  listChanges(pair: TreePair): Promise<ReadonlyMap<string, string>> {
    return diffTrees(this.#parts.mirror, pair);
  }

  // SPEC C19
  async ensureWhole(range: CommitRange): Promise<void> {
    const { objectsDir, mirror } = this.#parts;
    await settleLooseObjects({ ...mirror, objectsDir }, await listObjects(mirror, range));
  }

  changeRefs(changes: readonly RefChange[]): Promise<RefAnswer> {
    return this.#parts.refs.change(changes);
  }

  checkOut(request: WorkTreeRequest): Promise<string | undefined> {
    return checkOut(this.#parts, request);
  }

  isAncestor(pair: AncestryPair): Promise<boolean> {
    return this.#memory.ancestry.get(
      `${pair.ancestor} ${pair.descendant}`,
      async () => (await this.#memory.history.isSurelyAncestor(pair)) || isAncestor(this.#parts.mirror, pair),
    );
  }

  forget(): void {
    this.#parts.forget();
    this.#parts.catFile.retire();
    this.#parts.testMergeTree?.retire();
    this.#parts.mergeTree?.retire();
    this.#parts.refs.retire();
  }

  /**
   * A ref that was listed a moment ago cannot be confused with a shadow. Had it been deleted since, the next list would
   * show that.
   */
  #wasListed(ref: string): boolean {
    const listed = this.#listed;
    return listed !== undefined && performance.now() - listed.atMs < LISTED_MS && listed.names.has(ref);
  }

  #parse(sha: Sha, bytes: Buffer): Commit {
    const known = this.#memory.commits.find(sha);
    if (known !== undefined) return known;
    const commit = parseCommit(sha, bytes);
    if (bytes.length <= MAX_CACHED_COMMIT_BYTES) this.#memory.commits.set(sha, commit);
    return commit;
  }

  async #findCommitSlowly(ref: string, isShadowed: boolean): Promise<Commit | undefined> {
    const { gitDir, objectsDir, catFile } = this.#parts;
    await checkReadable(gitDir, objectsDir);
    const isThere = async () => (await hasLooseRef(gitDir, ref)) || (await hasPackedRef(gitDir, ref));
    const wasThere = await isThere();
    if (!wasThere && !isShadowed) return undefined;
    const exact = (await forEachRef(gitDir, ref)).find(({ name }) => name === ref);
    if (exact === undefined) {
      // Git leaves out a ref whose file it cannot read. A ref that was deleted meanwhile is gone at the second read.
      if (wasThere && (await isThere())) throw unreadable(`${ref} is damaged. Write the ref anew, or delete it`);
      return undefined;
    }
    const [answer] = await catFile.ask([`${exact.sha}^{commit}`]);
    return answer?.kind === 'object' ? parseCommit(answer.sha, answer.bytes) : undefined;
  }

  async #merge(pair: MergePair, { kept, keepIn }: MergeTools): Promise<TestMerge> {
    const checking = this.#checkTrees(pair, keepIn !== undefined);
    const mergeOnce = () => mergeTreeOnce({ mirror: this.#parts.mirror, keepIn }, pair);
    // A process for a single merge discards its wrong answer about a lost tree when it exits. A kept one could reuse
    // it.
    if (kept === undefined) return (await Promise.all([mergeOnce(), checking]))[0];
    await checking;
    // The kept process dies of a pair that it cannot merge, or by accident. In both cases a separate process finds the
    // reason.
    const answers = await kept.ask([`${pair.target} ${pair.head}`]).catch(() => undefined);
    return answers?.[0] ?? mergeOnce();
  }

  /** Git before 2.45 treats a commit whose tree is lost as one without files, and merges it without an error. */
  async #checkTrees(pair: MergePair, isKept: boolean): Promise<void> {
    await Promise.all([
      this.#checkTreesOf([pair.target, pair.head]),
      isKept && this.#parts.mergesLostTrees ? this.#checkTreesOfBases(pair) : undefined,
    ]);
  }

  async #checkTreesOf(commits: readonly Sha[]): Promise<void> {
    const trees = await this.#parts.catFile.ask(commits.map((sha) => `${sha}^{tree}`));
    if (trees.some((tree) => tree.kind === 'none')) throw damaged();
  }

  /** The merge bases need their trees too: without them, files that one side removed would come back. */
  async #checkTreesOfBases(pair: MergePair): Promise<void> {
    const bases = await this.#memory.bases.get(`${pair.target} ${pair.head}`, () => this.#listMergeBases(pair));
    await this.#checkTreesOf(bases);
    // Git first merges several merge bases with each other.
    const [target, ...others] = bases;
    if (target !== undefined) for (const head of others) await this.#checkTreesOfBases({ target, head });
  }

  async #listMergeBases(pair: MergePair): Promise<readonly Sha[]> {
    const base = await this.#memory.history.findMergeBase(pair);
    return base === undefined ? listMergeBases(this.#parts.mirror, pair) : [base];
  }
}

function createMemory({ catFile }: RepositoryParts): Memory {
  return {
    merges: new Remembered({ capacity: CACHED_PAIRS }),
    commits: new BoundedCache(CACHED_COMMITS),
    ancestry: new Remembered({ capacity: CACHED_PAIRS }),
    bases: new Remembered({ capacity: CACHED_PAIRS }),
    history: new StraightHistory(catFile),
  };
}

function damaged(): Fault {
  return new Fault('FORGE_UNAVAILABLE', 'Git could not test a merge: the repository is damaged or incomplete.');
}

/**
 * When a ref does not exist, git tries these names, so the branch `refs/heads/main` would be found for `main`. Git has
 * no unambiguous form. Asking for the shadows too costs some 10 µs each.
 */
function shadowsOf(ref: string): readonly string[] {
  return [`refs/${ref}`, `refs/tags/${ref}`, `refs/heads/${ref}`, `refs/remotes/${ref}`, `refs/remotes/${ref}/HEAD`];
}
