import type { CacheHit, Job, JobCache } from '../runner.ts';
import type { CacheFolder, OpenCache } from './cache-folder.ts';
import { findKey, type Keyed } from './cache-key.ts';
import { type Place, pack, unpack } from './cache-transfer.ts';
import type { Tool } from './tools.ts';

/** The cache of a job, or undefined if it has none. Nothing that goes wrong with a cache ends the job. */
export async function beginCache(
  folder: CacheFolder,
  { cache, onOutput }: Pick<Job, 'cache' | 'onOutput'>,
  { tree, tools }: { readonly tree: string; readonly tools: readonly Tool[] },
): Promise<UsedCache | undefined> {
  if (cache === undefined) return undefined;
  const say = (text: string) => onOutput(Buffer.from(`[Sluice] cache: ${text}\n`));
  if (folder.limitBytes === 0) return new UsedCache({ folder, cache, say }, undefined, undefined);
  const keyed = await findKey(cache, tree, tools);
  if (typeof keyed === 'string') return new UsedCache({ folder, cache, say }, keyed, undefined);
  const exact = await folder.find(keyed.name);
  const mayFallBack = exact === undefined && cache.isVerified && cache.use === 'read';
  const found = mayFallBack ? await folder.findFallback(keyed.name) : exact;
  return new UsedCache({ folder, cache, say }, keyed, found);
}

interface Parts {
  readonly folder: CacheFolder;
  readonly cache: JobCache;
  say(text: string): Promise<void>;
}

export class UsedCache {
  readonly #parts: Parts;
  /** A sentence: why there is none for this commit. Undefined: caches are off, which the log says already. */
  readonly #keyed: Keyed | string | undefined;
  readonly #found: OpenCache | undefined;
  #hit: CacheHit = 'none';

  constructor(parts: Parts, keyed: Keyed | string | undefined, found: OpenCache | undefined) {
    this.#parts = parts;
    this.#keyed = keyed;
    this.#found = found;
  }

  /** True when the key of the commit has no cache yet. */
  get isWanted(): boolean {
    return typeof this.#keyed === 'object' && this.#found === undefined;
  }

  /** Says what the command begins with. */
  // SPEC R83, R87
  async restore(place: Place): Promise<CacheHit> {
    const { cache, say } = this.#parts;
    const keyed = this.#keyed;
    if (typeof keyed === 'string') await say(`none, as ${keyed}.`);
    if (typeof keyed !== 'object') return 'none';
    this.#hit = await this.#unpack(place, keyed);
    cache.onHit?.(this.#hit);
    return this.#hit;
  }

  async #unpack(place: Place, keyed: Keyed): Promise<CacheHit> {
    const { say } = this.#parts;
    const found = this.#found;
    if (found === undefined) {
      await say('none has this key yet.');
      return 'none';
    }
    const startedAt = performance.now();
    const problem = await unpack(place, keyed, found).catch((error: Error) => error.message);
    if (problem !== undefined) {
      await say(`none, as one could not be restored: ${problem}`);
      return 'none';
    }
    const hit = found.key === keyed.name.key ? 'exact' : 'fallback';
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    await say(`${hit}, ${megabytes(found.sizeBytes)} restored in ${seconds} s.`);
    return hit;
  }

  /** After a pass that began with nothing. */
  // SPEC R81
  async keep(place: Place): Promise<void> {
    const { folder, cache, say } = this.#parts;
    const keyed = this.#keyed;
    if (cache.use === 'read' || typeof keyed !== 'object' || this.#hit !== 'none') return;
    const { branch, check } = cache;
    const kept = await folder
      .store(keyed.name, pack(place, keyed, { branch, check }))
      .catch((error: Error) => error.message);
    if (typeof kept === 'string') return say(`not kept. ${kept}`);
    cache.onKept?.();
    await say(`kept for later runs, ${megabytes(kept.sizeBytes)} in ${kept.entries} entries.`);
  }

  async close(): Promise<void> {
    await this.#found?.file.close();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
