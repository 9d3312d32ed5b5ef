import { type Base, type Candidate, compositionOf } from '../engine/model/candidate.ts';
import type { Queue } from '../engine/model/queue.ts';
import { valuesOf } from '../lib/int-map.ts';
import { Prng } from '../lib/prng.ts';
import type { Sha } from '../lib/sha.ts';

/**
 * Names of trees. Equal sets of submissions have the same name in any order. A name is the exclusive or of random words
 * for each submission, so the next name costs the same after ten landings and after ten thousand.
 */
type Words = readonly [number, number, number];

interface Submitted {
  readonly submission: number;
}

const NO_WORDS: Words = [0, 0, 0];

export class Trees {
  readonly #heads = new Map<Sha, Words>();
  readonly #words = new Map<number, Words>();
  /** The trees that were built before the simulation began. */
  readonly #built = new Map<string, Sha>();
  #landed = 0;
  head: Sha;

  constructor(queue: Queue) {
    this.head = queue.head?.sha ?? ('head-0' as Sha);
    this.#heads.set(this.head, NO_WORDS);
    const candidates = [...valuesOf(queue.candidates), ...valuesOf(queue.passes)];
    for (const { base } of candidates) this.#rewind(queue, base);
    for (const candidate of candidates) {
      if (candidate.commit !== undefined) this.#built.set(this.#nameOf(candidate), candidate.commit.tree);
    }
  }

  /** The head of the target branch as far as it was then: without what landed since. */
  #rewind({ landings }: Queue, { sha, ordinal }: Base): void {
    if (this.#heads.has(sha)) return;
    const since = landings.filter((landing) => landing.ordinal > ordinal);
    // A base whose landings are forgotten is like no other one.
    const words = since.length > 0 ? this.#mix(NO_WORDS, since) : wordsFor(`base/${sha}`);
    this.#heads.set(sha, words);
  }

  treeOf(candidate: Candidate): Sha {
    const name = this.#nameOf(candidate);
    return this.#built.get(name) ?? (name as Sha);
  }

  /** Lands these entries on the target branch. Returns the new tree. */
  land(entries: readonly Submitted[]): Sha {
    const words = this.#mix(this.#headOf(this.head), entries);
    this.#landed += entries.length;
    this.head = `head-${this.#landed}` as Sha;
    this.#heads.set(this.head, words);
    const name = nameOf(words);
    return this.#built.get(name) ?? (name as Sha);
  }

  #nameOf(candidate: Candidate): string {
    return nameOf(this.#mix(this.#headOf(candidate.base.sha), compositionOf(candidate)));
  }

  /** A search or a test may begin on a former head that no candidate was built on. Its tree is like no other one. */
  #headOf(sha: Sha): Words {
    return this.#heads.get(sha) ?? wordsFor(`base/${sha}`);
  }

  #mix(words: Words, entries: readonly Submitted[]): Words {
    let [a, b, c] = words;
    for (const { submission } of entries) {
      const [x, y, z] = this.#wordsOf(submission);
      a ^= x;
      b ^= y;
      c ^= z;
    }
    return [a, b, c];
  }

  #wordsOf(submission: number): Words {
    const known = this.#words.get(submission);
    if (known !== undefined) return known;
    const words = wordsFor(`tree/${submission}`);
    this.#words.set(submission, words);
    return words;
  }
}

function wordsFor(seed: string): Words {
  const prng = new Prng(seed);
  return [prng.integer(2 ** 32), prng.integer(2 ** 32), prng.integer(2 ** 32)];
}

function nameOf(words: Words): string {
  return `tree-${words.map((word) => (word >>> 0).toString(36)).join('-')}`;
}
