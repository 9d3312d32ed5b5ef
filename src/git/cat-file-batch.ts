import { assert } from '../lib/assert.ts';
import type { Sha } from '../lib/sha.ts';
import { startGit } from './exec.ts';
import type { AnswerReader, KeptProcessOptions } from './kept-process.ts';

export type CatFileAnswer =
  | { readonly kind: 'object'; readonly sha: Sha; readonly type: string; readonly bytes: Buffer }
  /** The ref or object does not exist, or the name is ambiguous. */
  | { readonly kind: 'none' };

/** Enough for a commit's headers, the readable part of its message, and a file of configuration. The rest is skipped. */
export const MAX_KEPT_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 4096;

/** `git cat-file --batch-command` answers each name with the object it resolves to. */
export function catFileBatch(gitDir: string): KeptProcessOptions<CatFileAnswer> {
  return {
    purpose: 'read the repository',
    gitDir,
    retries: 1,
    // Buffered until `flush`. Answers to one question then arrive in one chunk, which halves their time.
    start: () => startGit(['cat-file', '--batch-command', '--buffer'], { gitDir }),
    createReader: () => new CatFileReader(),
    encode: (names) => `${names.map((name) => `contents ${name}\n`).join('')}flush\n`,
  };
}

interface Body {
  readonly sha: Sha;
  readonly type: string;
  readonly size: number;
  readonly chunks: Buffer[];
  /** Bytes still to come of the object and its line break. */
  missing: number;
}

const NONE: CatFileAnswer = { kind: 'none' };
const NOTHING = Buffer.alloc(0);

export class CatFileReader implements AnswerReader<CatFileAnswer> {
  #header: Buffer = NOTHING;
  #body: Body | undefined;

  read(chunk: Buffer): readonly CatFileAnswer[] {
    const answers: CatFileAnswer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#body !== undefined) rest = this.#readBody(this.#body, rest, answers);
      else rest = this.#readHeader(rest, answers);
    }
    return answers;
  }

  #readHeader(chunk: Buffer, answers: CatFileAnswer[]): Buffer {
    const end = chunk.indexOf(10);
    if (end < 0) {
      this.#header = Buffer.concat([this.#header, chunk]);
      assert(this.#header.length <= MAX_HEADER_BYTES, 'git cat-file answered with an endless line');
      return chunk.subarray(chunk.length);
    }
    const header = this.#takeHeader() + chunk.toString('latin1', 0, end);
    const rest = chunk.subarray(end + 1);
    // By far the most frequent answer, since every ref is asked for with its five shadows.
    if (header.endsWith(' missing')) {
      answers.push(NONE);
      return rest;
    }
    const object = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(header);
    if (object !== null) {
      const [, sha, type, size] = object as unknown as [string, Sha, string, string];
      this.#body = { sha, type, size: Number(size), chunks: [], missing: Number(size) + 1 };
    } else {
      assert(header.endsWith(' ambiguous'), 'git cat-file answered with a line nobody knows');
      answers.push(NONE);
    }
    return rest;
  }

  #takeHeader(): string {
    if (this.#header.length === 0) return '';
    const header = this.#header.toString('latin1');
    this.#header = NOTHING;
    return header;
  }

  #readBody(body: Body, chunk: Buffer, answers: CatFileAnswer[]): Buffer {
    const taken = Math.min(body.missing, chunk.length);
    const keptBytes = body.size + 1 - body.missing;
    if (keptBytes < MAX_KEPT_BYTES) body.chunks.push(chunk.subarray(0, taken));
    body.missing -= taken;
    if (body.missing === 0) {
      const [first] = body.chunks;
      const whole = body.chunks.length === 1 && first !== undefined ? first : Buffer.concat(body.chunks);
      const bytes = whole.subarray(0, Math.min(body.size, MAX_KEPT_BYTES));
      answers.push({ kind: 'object', sha: body.sha, type: body.type, bytes });
      this.#body = undefined;
    }
    return chunk.subarray(taken);
  }
}
