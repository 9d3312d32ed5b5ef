/** Pseudo-random numbers that are the same for the same seed on every machine (sfc32). Not for secrets. */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number | string) {
    const [a, b, c] = hash(String(seed));
    this.#a = a;
    this.#b = b;
    this.#c = c;
    // The first numbers still correlate with the seed.
    for (let round = 0; round < 12; round += 1) this.#word();
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    return this.#word() / 2 ** 32;
  }

  /** A whole number from 0 (included) to `max` (excluded). */
  integer(max: number): number {
    return Math.floor(this.next() * max);
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.integer(max - min + 1);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** From the standard normal distribution (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  pick<T>(list: readonly [T, ...T[]]): T;
  pick<T>(list: readonly T[]): T | undefined;
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.integer(list.length)];
  }

  /** A shuffled copy. */
  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.integer(last + 1);
      const item = shuffled[last] as T;
      shuffled[last] = shuffled[other] as T;
      shuffled[other] = item;
    }
    return shuffled;
  }

  /** An independent sequence, for a part whose draws must not change the draws of others. */
  fork(): Prng {
    return new Prng(`${this.#word()}-${this.#word()}`);
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** Three words from a text: FNV-1a with different offsets. */
function hash(text: string): readonly [number, number, number] {
  const words: [number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    for (let word = 0; word < 3; word += 1) words[word] = Math.imul((words[word] as number) ^ code, 0x01000193);
  }
  return words;
}
