import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { systemClock } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';
import { catFileBatch } from './cat-file-batch.ts';
import { fetchRefs } from './fetch.ts';
import { checkReadable, FORBIDDEN, findFolderProblem, hasForbiddenPart, unreadable } from './folder.ts';
import { collectGarbage } from './gc.ts';
import type { Git, GitLocation, GitRepository, GitSource } from './git.ts';
import { reachRemote } from './ls-remote.ts';
import { mergeTreeStdin } from './merge-tree.ts';
import type { Mirror } from './mirror.ts';
import { ensureMirror } from './mirror.ts';
import type { ProcessPoolOptions } from './process-pool.ts';
import { ProcessPool } from './process-pool.ts';
import { Refresher } from './refresher.ts';
import { CliRepository } from './repository.ts';
import type { RepositoryLayout } from './rev-parse.ts';
import { findLayout } from './rev-parse.ts';
import { findUnbufferedWrapper } from './unbuffered.ts';
import { getGitVersion } from './version.ts';

export interface GitOptions extends ProcessPoolOptions {
  /** Where the mirrors are kept. */
  readonly directory: string;
  readonly clock?: Clock;
}

const FETCHES_BETWEEN_TIDYING = 100;

/** The port of git.ts, by the git program of this machine. */
export function createGit(options: GitOptions): Git & { readonly pool: ProcessPool } {
  return new CliGit(options);
}

class CliGit implements Git {
  readonly pool: ProcessPool;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #opened = new Map<string, { readonly location: GitLocation; readonly opening: Promise<GitRepository> }>();
  /** They outlive the repositories that use them: two fetches into one mirror would lock each other out. */
  readonly #refreshers = new Map<string, Refresher>();
  readonly #stopping = new AbortController();
  #abilities: Promise<Abilities> | undefined;

  constructor(options: GitOptions) {
    this.pool = new ProcessPool(options);
    this.#directory = resolve(options.directory);
    this.#clock = options.clock ?? systemClock;
  }

  open(source: GitSource): Promise<GitRepository> {
    const { location } = source;
    const known = this.#opened.get(source.id);
    // A repository that was registered again elsewhere takes over the mirror.
    if (known !== undefined && isSameLocation(known.location, location)) return known.opening;
    const forget = () => {
      // Somebody else may have opened it again already.
      if (this.#opened.get(source.id) === entry) this.#opened.delete(source.id);
    };
    const entry = { location, opening: this.#open(source, forget) };
    this.#opened.set(source.id, entry);
    entry.opening.catch(forget);
    return entry.opening;
  }

  async findProblem({ location }: GitSource): Promise<string | undefined> {
    try {
      await this.#getAbilities();
      if (location.kind === 'url') await reachRemote(location.url, this.#stopping.signal);
      else await getLayout(location.path);
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return location.kind === 'url' ? error.detail : `${location.path}: ${error.detail}`;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.pool.close();
  }

  async #open({ id, location }: GitSource, forget: () => void): Promise<GitRepository> {
    const { mergeTreeWrapper: wrapper } = await this.#getAbilities();
    const layout = location.kind === 'path' ? await getLayout(location.path) : undefined;
    const mirror = await ensureMirror({ directory: this.#directory, id, source: layout });
    const { gitDir, objectsDir } = layout ?? { gitDir: mirror.gitDir, objectsDir: join(mirror.gitDir, 'objects') };
    return new CliRepository({
      gitDir,
      objectsDir,
      mirror,
      catFile: this.pool.add(catFileBatch(gitDir)),
      mergeTree: wrapper === undefined ? undefined : this.pool.add(mergeTreeStdin(mirror, wrapper)),
      refresh: location.kind === 'url' ? this.#refreshOf(mirror, location.url) : async () => undefined,
      forget,
    });
  }

  #refreshOf({ gitDir }: Mirror, url: string): () => Promise<void> {
    const key = `${gitDir} ${url}`;
    const refresher = this.#refreshers.get(key) ?? this.#createRefresher(gitDir, url);
    this.#refreshers.set(key, refresher);
    return () => refresher.ensureFresh();
  }

  #createRefresher(gitDir: string, url: string): Refresher {
    const { signal } = this.#stopping;
    let fetches = 0;
    return new Refresher(async () => {
      await fetchRefs({ gitDir, url, signal });
      fetches += 1;
      if (fetches % FETCHES_BETWEEN_TIDYING !== 0) return;
      // An untidy mirror is slower but not wrong, and the next round tries again.
      collectGarbage(gitDir, signal).catch(() => undefined);
    }, this.#clock);
  }

  /** Remembered once git is found good; until then every question looks again. */
  async #getAbilities(): Promise<Abilities> {
    this.#abilities ??= getAbilities();
    try {
      return await this.#abilities;
    } catch (error) {
      this.#abilities = undefined;
      throw error;
    }
  }
}

function isSameLocation(a: GitLocation, b: GitLocation): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

interface Abilities {
  /** What to start `merge-tree --stdin` under; undefined where it cannot be kept. */
  readonly mergeTreeWrapper: readonly string[] | undefined;
}

async function getAbilities(): Promise<Abilities> {
  return { mergeTreeWrapper: await findUnbufferedWrapper(await getGitVersion()) };
}

/** Faults with the reason where the path is no repository that can be read. */
async function getLayout(path: string): Promise<RepositoryLayout> {
  const problem = await findFolderProblem(path);
  if (problem !== undefined) throw unreadable(problem);
  const layout = await findLayout(await realpath(path));
  if (layout === undefined) throw unreadable((await hasForbiddenPart(path)) ? FORBIDDEN : 'it is not a git repository');
  await checkReadable(layout.gitDir, layout.objectsDir);
  return layout;
}
