import { bound } from '../lib/bound.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { Fault } from '../lib/fault.ts';
import { Remembered } from '../lib/remembered.ts';
import type { Sha } from '../lib/sha.ts';
import { type CatFileAnswer, MAX_KEPT_BYTES } from './cat-file-batch.ts';
import { formatCommit, parseCommit, parseStoredCommit } from './commit.ts';
import { checkReadable, hasLooseRef, hasPackedRef, unreadable } from './folder.ts';
import { forEachRef } from './for-each-ref.ts';
import type {
  Commit,
  CommitReader,
  CommitStore,
  FileSearch,
  GitRepository,
  MergePair,
  NamedFile,
  RefStore,
  RemoteRef,
  TestMerge,
} from './git.ts';
import {
  diffTrees,
  findBlobs,
  isAncestor,
  listCommits,
  listFirstParents,
  listLine,
  listMergeBases,
  listObjects,
  listOwn,
} from './history.ts';
import type { KeptProcess } from './kept-process.ts';
import { settleLooseObjects, writeLooseObject } from './loose-object.ts';
import { type MergePlace, mergeTreeOnce } from './merge-tree.ts';
import type { Mirror } from './mirror.ts';
import type { RefTimes } from './ref-times.ts';
import { showConflict } from './show-conflict.ts';
import { StraightHistory } from './straight-history.ts';
import { type ProcessByRules, readUnionRules } from './union-attributes.ts';
import type { RefUpdater } from './update-ref.ts';
import { checkOut } from './work-tree.ts';

export interface RepositoryParts {
  /** The folder that refs are read from: the source if it is on this machine, else the mirror. */
  readonly gitDir: string;
  readonly objectsDir: string;
  readonly mirror: Mirror;
  readonly catFile: KeptProcess<CatFileAnswer>;
  /** Both are undefined when this git cannot answer one merge at a time. */
  readonly testMergeTree: ProcessByRules<TestMerge> | undefined;
  readonly mergeTree: ProcessByRules<TestMerge> | undefined;
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

export function createRepository(parts: RepositoryParts, memory = createMemory(parts)): GitRepository {
  const { catFile, testMergeTree, mergeTree, refs, source } = parts;
  return {
    ...createRefStore(parts, memory),
    ...createCommitReader(parts, memory),
    ...createCommitWriter(parts, memory),
    focus: (scope) => createRepository({ ...parts, source: { ...source, scope } }, memory),
    checkOut: (request) => checkOut(parts, request),
    forget() {
      parts.forget();
      for (const each of [catFile, testMergeTree, mergeTree, refs]) each?.retire();
    },
  };
}

function createRefStore(parts: RepositoryParts, { commits }: Memory): RefStore {
  const { gitDir, objectsDir, catFile, refs, times, source } = parts;
  let listed = { names: new Set<string>(), atMs: Number.NEGATIVE_INFINITY };
  let stayed: { readonly version: number | undefined; readonly answers: Map<string, Promise<unknown>> } | undefined;
  /** Questions of this event loop turn. Half of all pull requests ask for the same branch. */
  const unsent = new Map<string, Promise<Commit | undefined>>();

  function parse({ sha, bytes }: FoundObject): Commit {
    const commit = commits.find(sha) ?? parseCommit(sha, bytes);
    if (bytes.length <= MAX_CACHED_COMMIT_BYTES) commits.set(sha, commit);
    return commit;
  }

  async function find(ref: string): Promise<Commit | undefined> {
    // A ref that was listed a moment ago cannot be confused with a shadow. Had it been deleted since, the next list
    // would show that.
    const wasListed = performance.now() - listed.atMs < LISTED_MS && listed.names.has(ref);
    const [answer, ...shadows] = await catFile.ask([`${ref}^{commit}`, ...(wasListed ? [] : shadowsOf(ref))]);
    const isShadowed = shadows.some((shadow) => shadow.kind !== 'none');
    return answer?.kind === 'object' && !isShadowed ? parse(answer) : findSlowly(parts, ref, isShadowed);
  }

  return {
    refresh: (maxAgeMs = 0) => source.fetch(source.scope, maxAgeMs),
    fetch: (names) => source.fetch(names, 0),
    listRemoteRefs: source.listRefs,
    changeRefs: refs.change,
    findCommit(ref) {
      const commit = unsent.get(ref) ?? find(ref);
      // The questions are sent by then. A later caller may need a newer answer.
      if (unsent.size === 0) setImmediate(() => unsent.clear());
      unsent.set(ref, commit);
      return commit;
    },
    // SPEC E35
    async whileRefsStay(name, read) {
      // Before the refs are read: a change in between makes the next call read them again.
      const version = await times?.findVersion();
      if (version === undefined) return read();
      if (stayed?.version !== version) stayed = { version, answers: new Map() };
      const { answers } = stayed;
      const answer = (answers.get(name) as ReturnType<typeof read> | undefined) ?? read();
      answers.set(name, answer);
      answer.catch(() => answers.delete(name));
      return answer;
    },
    async listRefs(pattern) {
      await checkReadable(gitDir, objectsDir);
      const found = await forEachRef(gitDir, pattern);
      listed = { names: new Set(found.map(({ name }) => name)), atMs: performance.now() };
      return found;
    },
  };
}

type FoundObject = Extract<CatFileAnswer, { kind: 'object' }>;

async function findSlowly(
  { gitDir, objectsDir, catFile }: RepositoryParts,
  ref: string,
  isShadowed: boolean,
): Promise<Commit | undefined> {
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

function createCommitReader(parts: RepositoryParts, { merges, ancestry, history }: Memory): CommitReader {
  const { gitDir, objectsDir, mirror, catFile, testMergeTree } = parts;
  return {
    ...bound(mirror, { listLine, listChanges: diffTrees, listMergeBases }),
    readFiles: (search) => readFiles(parts, search),
    showConflict: async (pair, maxLength) =>
      showConflict({ mirror, rules: await findRules(catFile, pair) }, pair, maxLength),
    async findStoredCommit(sha) {
      const [answer] = await catFile.ask([sha]);
      if (answer?.kind !== 'object') await checkReadable(gitDir, objectsDir);
      if (answer?.kind !== 'object' || answer.type !== 'commit') return undefined;
      const commit = parseStoredCommit(sha, answer.bytes);
      history.learn(commit);
      return commit;
    },
    async findFile(commit, path) {
      const [tree, file] = await catFile.ask([`${commit}^{tree}`, `${commit}:${path}`]);
      if (tree?.kind !== 'object') throw damaged();
      return file?.kind === 'object' && file.type === 'blob' ? file.bytes : undefined;
    },
    isAncestor: (pair) =>
      ancestry.get(
        `${pair.ancestor} ${pair.descendant}`,
        async () => (await history.isSurelyAncestor(pair)) || isAncestor(mirror, pair),
      ),
    async listOwn(range) {
      const own = await history.findOwnCommits(range);
      return own?.map(({ sha }) => sha) ?? listOwn(mirror, range);
    },
    async listFirstParents(range) {
      const line = await history.findOwnLine(range);
      return line?.map(({ sha }) => sha).toReversed() ?? listFirstParents(mirror, range);
    },
    async listAuthors(range) {
      const own = await history.findOwnCommits(range);
      if (own !== undefined) return own.map(({ authorName }) => authorName).toReversed();
      const answers = await catFile.ask(await listCommits(mirror, range));
      return answers.flatMap((answer) =>
        answer.kind === 'object' ? [parseStoredCommit(answer.sha, answer.bytes).authorName] : [],
      );
    },
    testMerge: (pair) =>
      merges.get(`${pair.target} ${pair.head}`, async () => {
        const rules = await findRules(catFile, pair);
        const checking = checkTrees(catFile, [pair.target, pair.head]);
        return merge(pair, { kept: testMergeTree, place: { mirror, keepIn: undefined, rules }, checking });
      }),
  };
}

const READ_AT_ONCE = 500;

async function readFiles(
  { mirror, catFile }: RepositoryParts,
  search: FileSearch,
): Promise<readonly NamedFile[] | undefined> {
  const blobs = await findBlobs(mirror, search);
  if (blobs.length > search.maxFiles) return undefined;
  let room = search.maxBytes;
  const chosen = blobs.filter(({ size }) => {
    if (size > MAX_KEPT_BYTES || size > room) return false;
    room -= size;
    return true;
  });
  const bytes = new Map<string, Buffer>();
  for (let first = 0; first < chosen.length; first += READ_AT_ONCE) {
    const piece = chosen.slice(first, first + READ_AT_ONCE);
    const answers = await catFile.ask(piece.map(({ object }) => object));
    for (const answer of answers) {
      if (answer.kind !== 'object') throw damaged();
      bytes.set(answer.sha, answer.bytes);
    }
  }
  const isChosen = new Set(chosen);
  return blobs.map((blob) => {
    const found = isChosen.has(blob) ? bytes.get(blob.object) : undefined;
    return found === undefined ? { path: blob.path } : { path: blob.path, bytes: found };
  });
}

type CommitWriter = Omit<CommitStore, keyof CommitReader>;

function createCommitWriter(parts: RepositoryParts, { bases, history }: Memory): CommitWriter {
  const { objectsDir, mirror, catFile, mergeTree, mergesLostTrees } = parts;
  const store = { ...mirror, objectsDir };

  async function listBases(pair: MergePair): Promise<readonly Sha[]> {
    const base = await history.findMergeBase(pair);
    return base === undefined ? listMergeBases(mirror, pair) : [base];
  }

  /** The merge bases need their trees too: without them, files that one side removed would come back. */
  async function checkTreesOfBases(pair: MergePair): Promise<void> {
    const found = await bases.get(`${pair.target} ${pair.head}`, () => listBases(pair));
    await checkTrees(catFile, found);
    // Git first merges several merge bases with each other.
    const [target, ...others] = found;
    if (target !== undefined) for (const head of others) await checkTreesOfBases({ target, head });
  }

  return {
    async merge(pair) {
      const rules = await findRules(catFile, pair);
      const checks = [checkTrees(catFile, [pair.target, pair.head]), mergesLostTrees && checkTreesOfBases(pair)];
      return merge(pair, {
        kept: mergeTree,
        place: { mirror, keepIn: objectsDir, rules },
        checking: Promise.all(checks),
      });
    },
    writeCommit: (draft) => writeLooseObject(store, 'commit', formatCommit(draft)),
    // SPEC C19
    ensureWhole: async (range) => settleLooseObjects(store, await listObjects(mirror, range)),
  };
}

interface MergeTools {
  readonly kept: ProcessByRules<TestMerge> | undefined;
  readonly place: MergePlace;
  readonly checking: Promise<unknown>;
}

async function merge(pair: MergePair, { kept, place, checking }: MergeTools): Promise<TestMerge> {
  // A process for a single merge discards its wrong answer about a lost tree when it exits. A kept one could reuse it.
  if (kept === undefined) return (await Promise.all([mergeTreeOnce(place, pair), checking]))[0];
  await checking;
  // The kept process dies of a pair that it cannot merge, or by accident. In both cases a separate process finds the
  // reason.
  const answers = await kept
    .get(place.rules)
    .ask([`${pair.target} ${pair.head}`])
    .catch(() => undefined);
  return answers?.[0] ?? mergeTreeOnce(place, pair);
}

// SPEC C15
async function findRules(catFile: RepositoryParts['catFile'], { target, attributesOf = target }: MergePair) {
  const [tree, file] = await catFile.ask([`${attributesOf}^{tree}`, `${attributesOf}:.gitattributes`]);
  return readUnionRules(tree, file, damaged);
}

/** Git before 2.45 treats a commit whose tree is lost as one without files, and merges it without an error. */
async function checkTrees(catFile: RepositoryParts['catFile'], commits: readonly Sha[]): Promise<void> {
  const trees = await catFile.ask(commits.map((sha) => `${sha}^{tree}`));
  if (trees.some((tree) => tree.kind === 'none')) throw damaged();
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

/** Git tries these names for a ref that does not exist, and has no unambiguous form. Each costs some 10 µs. */
function shadowsOf(ref: string): readonly string[] {
  return [`refs/${ref}`, `refs/tags/${ref}`, `refs/heads/${ref}`, `refs/remotes/${ref}`, `refs/remotes/${ref}/HEAD`];
}
