import { Prng } from '../lib/prng.ts';
import type { Sha } from '../lib/sha.ts';

/**
 * Names of trees. Equal sets of changes have the same name in any order. A name is the exclusive or of random words for
 * each change, so the next name costs the same after ten landings and after ten thousand.
 */
type Words = readonly [number, number, number];

interface Head {
  readonly words: Words;
  readonly landed: number;
}

export class Trees {
  readonly #heads = new Map<Sha, Head>();
  readonly #words: Words[] = [];
  head = 'head-0' as Sha;

  constructor() {
    this.#heads.set(this.head, { words: [0, 0, 0], landed: 0 });
  }

  landedOn(sha: Sha): number {
    return this.#headOf(sha).landed;
  }

  treeOn(sha: Sha, changes: readonly number[]): Sha {
    return nameOf(this.#mix(this.#headOf(sha).words, changes));
  }

  /** Lands these changes on the target branch. Returns the new tree. */
  land(changes: readonly number[]): Sha {
    const before = this.#headOf(this.head);
    const head = { words: this.#mix(before.words, changes), landed: before.landed + changes.length };
    this.head = `head-${head.landed}` as Sha;
    this.#heads.set(this.head, head);
    return nameOf(head.words);
  }

  #headOf(sha: Sha): Head {
    const head = this.#heads.get(sha);
    if (head === undefined) throw new RangeError(`${sha} was never the head`);
    return head;
  }

  #mix(words: Words, changes: readonly number[]): Words {
    let [a, b, c] = words;
    for (const number of changes) {
      const [x, y, z] = this.#wordsOf(number);
      a ^= x;
      b ^= y;
      c ^= z;
    }
    return [a, b, c];
  }

  #wordsOf(number: number): Words {
    const known = this.#words[number];
    if (known !== undefined) return known;
    const prng = new Prng(`tree/${number}`);
    const words: Words = [prng.integer(2 ** 32), prng.integer(2 ** 32), prng.integer(2 ** 32)];
    this.#words[number] = words;
    return words;
  }
}

function nameOf(words: Words): Sha {
  return `tree-${words.map((word) => (word >>> 0).toString(36)).join('-')}` as Sha;
}
