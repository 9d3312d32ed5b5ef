import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';
import type { HookNews, Hooks } from '../lib/hooks.ts';
import { catFileBatch } from './cat-file-batch.ts';
import { runGit } from './exec.ts';
import { checkReadable, FORBIDDEN, findFolderProblem, hasForbiddenPart, unreadable } from './folder.ts';
import { forEachRef, hasAnyRef } from './for-each-ref.ts';
import type {
  Git,
  GitLocation,
  GitRepository,
  GitSource,
  LocalLocation,
  RefAnswer,
  RefChange,
  RemoteLocation,
} from './git.ts';
import { collectGarbage, findLayout, type RepositoryLayout } from './git-dir.ts';
import { createHookedUpdater } from './hooked-refs.ts';
import { watchHooks } from './hooks.ts';
import { mergeTreeStdin } from './merge-tree.ts';
import { ensureMirror, type Mirror } from './mirror.ts';
import { ProcessPool, type ProcessPoolOptions } from './process-pool.ts';
import { pushRefs } from './push.ts';
import { watchRefTimes } from './ref-times.ts';
import { Refresher } from './refresher.ts';
import { ALL_REFS, fetchRefs, listRemoteRefs, reachRemote } from './remote.ts';
import { createRepository, type Source } from './repository.ts';
import { ProcessByRules } from './union-attributes.ts';
import { createRefUpdater, type RefUpdater, updateRefs } from './update-ref.ts';

export interface GitOptions extends ProcessPoolOptions {
  readonly directory: string;
  readonly clock?: Pick<Clock, 'now'>;
  /** How long a caller waits for a remote before it gets an error. */
  readonly remoteWaitMs?: number | undefined;
  /** Time limit for hooks of a repository on this machine. */
  readonly hookLimitMs?: number;
  onHooks?(news: HookNews): void;
}

/** Shorter than the usual timeout of an HTTP client. */
const REMOTE_WAIT_MS = 30_000;
/** A hook that checks a push takes seconds. A longer task, such as a deploy, has to be started in the background. */
const HOOK_LIMIT_MS = 5 * 60_000;
const FETCHES_BETWEEN_TIDYING = 100;
/** Far longer than any caller reads a fetched ref. */
const UNUSED_AFTER_MS = 60 * 60_000;

export function createGit(options: GitOptions): Git & { readonly pool: ProcessPool } {
  return new CliGit(options);
}

class CliGit implements Git {
  readonly pool: ProcessPool;
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #remoteWaitMs: number;
  readonly #hookLimitMs: number;
  readonly #onHooks: (news: HookNews) => void;
  readonly #opened = new Map<string, { readonly location: GitLocation; readonly opening: Promise<GitRepository> }>();
  /** Refreshers outlive the repositories that use them: two fetches into one mirror would lock each other out. */
  readonly #refreshers = new Map<string, Refresher>();
  readonly #stopping = new AbortController();
  /** Processes that `#stopping` ends, which takes a moment. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: GitOptions) {
    this.pool = new ProcessPool(options);
    this.#directory = resolve(options.directory);
    this.#clock = options.clock ?? systemClock;
    this.#remoteWaitMs = options.remoteWaitMs ?? REMOTE_WAIT_MS;
    this.#hookLimitMs = options.hookLimitMs ?? HOOK_LIMIT_MS;
    this.#onHooks = (news) => options.onHooks?.(news);
  }

  open(source: GitSource): Promise<GitRepository> {
    const { location } = source;
    const known = this.#opened.get(source.id);
    // A repository that was registered again at another location takes over the mirror.
    if (known !== undefined && isSameLocation(known.location, location)) return known.opening;
    const forget = () => {
      // Another caller may have opened it again already.
      if (this.#opened.get(source.id) === entry) this.#opened.delete(source.id);
    };
    const entry = { location, opening: this.#open(source, forget) };
    this.#opened.set(source.id, entry);
    entry.opening.catch(forget);
    return entry.opening;
  }

  async findProblem({ location }: GitSource): Promise<string | undefined> {
    try {
      await getAbilities();
      if (location.kind === 'url') await this.#track(reachRemote(location, this.#stopping.signal));
      else await getLayout(location.path);
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return location.kind === 'url' ? error.detail : `${location.path}: ${error.detail}`;
    }
  }

  async findHooks({ path }: LocalLocation): Promise<Hooks> {
    const { gitDir } = await getLayout(path);
    return watchHooks(gitDir).look();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.pool.close();
    await Promise.allSettled(this.#underWay);
  }

  async #open({ id, location }: GitSource, forget: () => void): Promise<GitRepository> {
    const { mergeTreeWrapper: wrapper, mergesLostTrees } = await getAbilities();
    const layout = location.kind === 'path' ? await getLayout(location.path) : undefined;
    const mirror = await ensureMirror({ directory: this.#directory, id, source: layout });
    const { gitDir, objectsDir } = layout ?? { gitDir: mirror.gitDir, objectsDir: join(mirror.gitDir, 'objects') };
    const merging = (keepIn: string | undefined) =>
      wrapper && new ProcessByRules((rules) => this.pool.add(mergeTreeStdin({ mirror, keepIn, rules }, wrapper)));
    return createRepository({
      gitDir,
      objectsDir,
      mirror,
      catFile: this.pool.add(catFileBatch(gitDir)),
      testMergeTree: merging(undefined),
      mergeTree: merging(objectsDir),
      refs: this.#refUpdaterOf(id, { gitDir, mirror }, location),
      times: layout && watchRefTimes(gitDir),
      mergesLostTrees,
      source: location.kind === 'url' ? this.#sourceOf(mirror, location) : localSource(gitDir),
      forget,
    });
  }

  #refUpdaterOf(
    source: string,
    { gitDir, mirror }: { readonly gitDir: string; readonly mirror: Mirror },
    location: GitLocation,
  ): RefUpdater {
    if (location.kind === 'url') {
      return { change: (changes) => this.#push(mirror, location, changes), retire: () => undefined };
    }
    const direct = createRefUpdater(gitDir, this.pool);
    if (location.runHooks !== true) return direct;
    return createHookedUpdater({
      source,
      gitDir,
      objectFormat: mirror.objectFormat,
      hooks: watchHooks(gitDir),
      direct,
      limitMs: this.#hookLimitMs,
      signal: this.#stopping.signal,
      tell: this.#onHooks,
      track: (work) => this.#track(work),
    });
  }

  #push({ gitDir }: Mirror, remote: RemoteLocation, changes: readonly RefChange[]): Promise<RefAnswer> {
    return this.#track(pushRefs({ gitDir, remote, changes, signal: this.#stopping.signal }));
  }

  #sourceOf({ gitDir }: Mirror, remote: RemoteLocation): Source {
    const key = `${gitDir} ${remote.url}`;
    const refresher = this.#refreshers.get(key) ?? this.#createRefresher(gitDir, remote);
    this.#refreshers.set(key, refresher);
    const { signal } = this.#stopping;
    return {
      scope: remote.scope ?? ALL_REFS,
      fetch: (refs, maxAgeMs) =>
        within(this.#remoteWaitMs, refresher.ensureFresh(refs, maxAgeMs), () => this.#describeSilence(gitDir)),
      listRefs: (patterns) =>
        within(this.#remoteWaitMs, this.#track(listRemoteRefs({ remote, patterns, signal })), async () =>
          this.#sayNoAnswer(),
        ),
    };
  }

  #createRefresher(gitDir: string, remote: RemoteLocation): Refresher {
    const { signal } = this.#stopping;
    let fetches = 0;
    const refresher: Refresher = new Refresher(async (refs) => {
      await this.#track(fetchRefs({ gitDir, remote, refs, signal }));
      fetches += 1;
      if (fetches % FETCHES_BETWEEN_TIDYING !== 0) return;
      if (remote.scope !== undefined) await dropUnused(gitDir, refresher);
      // A mirror without garbage collection is slower but not wrong. The next round tries again.
      this.#track(collectGarbage(gitDir, signal)).catch(() => undefined);
    }, this.#clock);
    return refresher;
  }

  /** Git writes a ref after all its objects, so a mirror with any ref has a complete copy. */
  // SPEC G102
  async #describeSilence(gitDir: string): Promise<string> {
    const hasCopy = await hasAnyRef(gitDir);
    if (!hasCopy) return 'The repository is still being copied from its remote. Try again in a few minutes.';
    return this.#sayNoAnswer();
  }

  #sayNoAnswer(): string {
    return `The remote of the repository did not answer within ${Math.ceil(this.#remoteWaitMs / 1_000)} seconds.`;
  }

  #track<Answer>(work: Promise<Answer>): Promise<Answer> {
    this.#underWay.add(work);
    const drop = () => this.#underWay.delete(work);
    work.then(drop, drop);
    return work;
  }
}

async function within<Answer>(waitMs: number, work: Promise<Answer>, describe: () => Promise<string>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<typeof TOO_LONG>((resolve) => {
    timer = setTimeout(resolve, waitMs, TOO_LONG);
  });
  const outcome = await Promise.race([work, tooLong]).finally(() => clearTimeout(timer));
  if (outcome === TOO_LONG) throw new Fault('FORGE_UNAVAILABLE', await describe());
  return outcome;
}

const TOO_LONG = Symbol('too long');

/** Refs of a local source are read in place, so nothing is copied. */
function localSource(gitDir: string): Source {
  return {
    scope: [],
    fetch: async () => undefined,
    listRefs: async (patterns) => {
      const found = await Promise.all(patterns.map((pattern) => forEachRef(gitDir, pattern.replace(/\*$/, ''))));
      return found.flat();
    },
  };
}

/** As forges name the heads of pull requests. */
const PULL_REQUESTS = ['refs/pull/', 'refs/merge-requests/'];

/** Pull requests that are fetched one by one are removed by nothing else once they are unused. */
// SPEC G107
async function dropUnused(gitDir: string, refresher: Refresher): Promise<void> {
  const refs = (await Promise.all(PULL_REQUESTS.map((folder) => forEachRef(gitDir, folder)))).flat();
  const unused = refs.filter(({ name }) => !refresher.isFresh(name, UNUSED_AFTER_MS));
  if (unused.length > 0)
    await updateRefs(
      gitDir,
      unused.map(({ name }) => ({ kind: 'delete', ref: name })),
    );
}

/** The `authorize` callback is not compared: tokens change while the location stays. */
function isSameLocation(a: GitLocation, b: GitLocation): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

interface Abilities {
  /** The command to start `merge-tree --stdin` under. Undefined when it cannot be kept running. */
  readonly mergeTreeWrapper: readonly string[] | undefined;
  readonly mergesLostTrees: boolean;
}

const MISSES_LOST_TREES: GitVersion = { major: 2, minor: 45 };

/** By the PATH that git was found in. Every server of this process has the same git. */
const knownAbilities = new Map<string, Promise<Abilities>>();

/** Cached once git is found usable. Until then every call probes again. */
async function getAbilities(): Promise<Abilities> {
  const path = process.env['PATH'] ?? '';
  const known = knownAbilities.get(path) ?? findAbilities();
  knownAbilities.set(path, known);
  try {
    return await known;
  } catch (error) {
    knownAbilities.delete(path);
    throw error;
  }
}

async function findAbilities(): Promise<Abilities> {
  const version = await getGitVersion();
  return {
    mergeTreeWrapper: await findUnbufferedWrapper(version),
    mergesLostTrees: !isAtLeast(version, MISSES_LOST_TREES),
  };
}

/** Throws with the reason when the path is not a readable repository. */
async function getLayout(path: string): Promise<RepositoryLayout> {
  const problem = await findFolderProblem(path);
  if (problem !== undefined) throw unreadable(problem);
  const layout = await findLayout(await realpath(path));
  if (layout === undefined) throw unreadable((await hasForbiddenPart(path)) ? FORBIDDEN : 'it is not a git repository');
  await checkReadable(layout.gitDir, layout.objectsDir);
  return layout;
}

interface GitVersion {
  readonly major: number;
  readonly minor: number;
}

/** The first version with `merge-tree --write-tree`. */
const OLDEST: GitVersion = { major: 2, minor: 38 };

export async function getGitVersion(): Promise<GitVersion> {
  const { stdout } = await runGit(['--version'], { purpose: 'tell its version', timeoutMs: 10_000 });
  return parseGitVersion(stdout.toString());
}

export function parseGitVersion(text: string): GitVersion {
  const match = /^git version (\d+)\.(\d+)/.exec(text);
  const version = { major: Number(match?.[1] ?? 0), minor: Number(match?.[2] ?? 0) };
  if (isAtLeast(version, OLDEST)) return version;
  const found = match === null ? 'its version cannot be read' : `this is ${version.major}.${version.minor}`;
  throw new Fault('GIT_UNSUPPORTED', `Sluice needs git ${OLDEST.major}.${OLDEST.minor} or newer; ${found}.`);
}

export function isAtLeast(version: GitVersion, other: GitVersion): boolean {
  return version.major > other.major || (version.major === other.major && version.minor >= other.minor);
}

const KNOWS_STDIN: GitVersion = { major: 2, minor: 39 };
const FLUSHES_STDIN: GitVersion = { major: 2, minor: 49 };
const STDBUF = ['stdbuf', '-o0'];

/** Makes `merge-tree --stdin` answer each line at once. Newer git flushes by itself. Undefined without stdbuf. */
export async function findUnbufferedWrapper(version: GitVersion): Promise<readonly string[] | undefined> {
  if (isAtLeast(version, FLUSHES_STDIN)) return [];
  if (!isAtLeast(version, KNOWS_STDIN)) return undefined;
  return runGit(['--version'], { purpose: 'start under stdbuf', wrapper: STDBUF }).then(
    () => STDBUF,
    () => undefined,
  );
}
