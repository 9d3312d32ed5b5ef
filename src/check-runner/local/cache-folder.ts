import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import type { CheckCaches, KeptCache } from '../runner.ts';

/** One cache is no larger than this, packed. */
const MAX_CACHE_BYTES = 2 * 1024 ** 3;
/** A file ends with a block of facts about what is before it. tar does not read beyond the end of its archive. */
const FACTS_BYTES = 16 * 1024;
const PIECE_BYTES = 1024 * 1024;
const SUFFIX = '.tar';
const UNFINISHED = '.part';

/** The name of a cache: `scope` says what may stand in for it. */
export interface CacheName {
  readonly repository: string;
  readonly scope: string;
  /** Begins with the scope. */
  readonly key: string;
}

interface Facts {
  readonly branch: string;
  readonly check: string;
  readonly entries: number;
  readonly sha256: string;
}

export interface CacheSource {
  readonly content: AsyncIterable<Buffer>;
  /** Called after the content. A sentence: the content is not whole, or is not to be kept. */
  finish(): Promise<Omit<Facts, 'sha256'> | string>;
}

interface Stored {
  readonly sizeBytes: number;
  readonly entries: number;
}

export interface OpenCache {
  readonly key: string;
  /** At the beginning of an archive whose content is what was stored. */
  readonly file: FileHandle;
  readonly sizeBytes: number;
}

interface CacheFolderOptions {
  readonly folder: string;
  /** Of all caches together. */
  readonly limitBytes: number;
  readonly log: Log;
}

/** The caches of a server: one file for each key, which never changes. Only this server writes here. */
// SPEC R80, R88
export class CacheFolder implements CheckCaches {
  readonly limitBytes: number;
  readonly #folder: string;
  readonly #log: Log;
  /** Files whose content was compared with its digest. */
  readonly #verified = new Map<string, string>();

  constructor({ folder, limitBytes, log }: CacheFolderOptions) {
    this.#folder = folder;
    this.limitBytes = limitBytes;
    this.#log = log;
  }

  /** Removes what a killed server left half written. */
  async open(): Promise<void> {
    for (const repository of await namesIn(this.#folder))
      for (const name of await namesIn(join(this.#folder, repository)))
        if (name.endsWith(UNFINISHED)) await this.#drop(join(this.#folder, repository, name));
    await this.#makeRoom();
  }

  async find({ repository, key }: CacheName): Promise<OpenCache | undefined> {
    return this.#openFile(repository, key);
  }

  /** The newest one of the scope. */
  async findFallback({ repository, scope }: CacheName): Promise<OpenCache | undefined> {
    const all = (await this.list(repository)).filter(({ key }) => key.startsWith(`${scope}-`));
    for (const { key } of all.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())) {
      const found = await this.#openFile(repository, key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first writer wins. Answers a sentence why nothing was kept, or how much was. */
  // SPEC R81
  async store(name: CacheName, source: CacheSource): Promise<string | Stored> {
    const path = this.#fileOf(name.repository, name.key);
    const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
    try {
      await mkdir(join(this.#folder, name.repository), { recursive: true, mode: 0o700 });
      const written = await writeArchive(unfinished, source, this.#largest);
      if (typeof written === 'string') return written;
      await link(unfinished, path);
      return written;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      return code === 'EEXIST' ? 'Another run was first.' : `It cannot be written (${code}).`;
    } finally {
      await this.#drop(unfinished);
      await this.#makeRoom(name.key);
    }
  }

  async list(repository: string): Promise<readonly KeptCache[]> {
    const names = await namesIn(join(this.#folder, repository));
    const read = names.flatMap((name) =>
      name.endsWith(SUFFIX) ? [this.#describe(repository, name.slice(0, -SUFFIX.length))] : [],
    );
    return (await Promise.all(read)).filter((one) => one !== undefined);
  }

  remove({ repository, key }: Pick<KeptCache, 'repository' | 'key'>): Promise<void> {
    return this.#drop(this.#fileOf(repository, key));
  }

  get #largest(): number {
    return Math.min(MAX_CACHE_BYTES, this.limitBytes);
  }

  #fileOf(repository: string, key: string): string {
    return join(this.#folder, repository, `${key}${SUFFIX}`);
  }

  async #describe(repository: string, key: string): Promise<KeptCache | undefined> {
    const file = await open(this.#fileOf(repository, key)).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const { size, mtime, atime } = await file.stat();
      const { branch = '', check = '', entries = 0 } = (await readFacts(file, size)) ?? {};
      return { repository, key, branch, check, entries, sizeBytes: size, createdAt: mtime, usedAt: atime };
    } catch {
      return undefined;
    } finally {
      await file.close();
    }
  }

  /** A file that is not as it was stored is removed. */
  // SPEC R87
  async #openFile(repository: string, key: string): Promise<OpenCache | undefined> {
    const path = this.#fileOf(repository, key);
    const file = await open(path).catch(() => undefined);
    if (file === undefined) return undefined;
    const problem = await this.#findProblem(path, file).catch((error: Error) => error.message);
    if (problem === undefined) {
      const { size, mtime } = await file.stat();
      // By the clock of the machine, whose time the least recently used one is found by.
      await utimes(path, new Date(), mtime).catch(() => undefined);
      return { key, file, sizeBytes: size - FACTS_BYTES };
    }
    await file.close();
    this.#log.warn({ repository, key, problem }, 'a cache of a check is damaged, and was removed');
    await this.#drop(path);
    return undefined;
  }

  async #findProblem(path: string, file: FileHandle): Promise<string | undefined> {
    const { size, mtimeNs, ino } = await file.stat({ bigint: true });
    const state = `${ino} ${size} ${mtimeNs}`;
    if (this.#verified.get(path) === state) return undefined;
    const facts = await readFacts(file, Number(size));
    if (facts === undefined) return 'it is cut off';
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(PIECE_BYTES);
    for (let at = 0, left = Number(size) - FACTS_BYTES; left > 0; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(left, PIECE_BYTES), at);
      if (bytesRead === 0) return 'it is cut off';
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
      left -= bytesRead;
    }
    if (hash.digest('hex') !== facts.sha256) return 'its content changed';
    this.#verified.set(path, state);
    return undefined;
  }

  async #drop(path: string): Promise<void> {
    this.#verified.delete(path);
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not remove a cache of a check'),
    );
  }

  /** Removes the least recently used ones until the others fit. */
  // SPEC R88
  async #makeRoom(kept?: string): Promise<void> {
    const lists = (await namesIn(this.#folder)).map((repository) => this.list(repository));
    const all = (await Promise.all(lists)).flat();
    let bytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const cache of all.toSorted((a, b) => a.usedAt.getTime() - b.usedAt.getTime())) {
      if (bytes <= this.limitBytes) return;
      if (cache.key === kept) continue;
      await this.remove(cache);
      bytes -= cache.sizeBytes;
    }
  }
}

/** Written and on the disk, or a sentence why not. */
async function writeArchive(path: string, source: CacheSource, limit: number): Promise<string | Stored> {
  const file = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const bytes of source.content) {
      sizeBytes += bytes.length;
      if (sizeBytes + FACTS_BYTES > limit) return `It has more than ${Math.floor(limit / 1024 ** 2)} MiB.`;
      hash.update(bytes);
      await file.writeFile(bytes);
    }
    const facts = await source.finish();
    if (typeof facts === 'string') return facts;
    const text = JSON.stringify({ ...facts, sha256: hash.digest('hex') });
    if (Buffer.byteLength(text) >= FACTS_BYTES) return 'The name of its branch or check is too long.';
    const block = Buffer.alloc(FACTS_BYTES);
    block.write(text);
    await file.writeFile(block);
    await file.sync();
    return { sizeBytes, entries: facts.entries };
  } finally {
    await file.close();
  }
}

async function readFacts(file: FileHandle, size: number): Promise<Facts | undefined> {
  if (size < FACTS_BYTES) return undefined;
  const block = Buffer.alloc(FACTS_BYTES);
  await file.read(block, 0, FACTS_BYTES, size - FACTS_BYTES);
  try {
    const facts: Partial<Facts> = JSON.parse(block.subarray(0, block.indexOf(0)).toString());
    return typeof facts.sha256 === 'string' ? (facts as Facts) : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
