import type { Sha } from '../lib/sha.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { CatFileAnswer } from './cat-file-batch.ts';
import { parseStoredCommit } from './commit.ts';
import type { AncestryPair, CommitRange, MergePair, StoredCommit } from './git.ts';
import type { KeptProcess } from './kept-process.ts';

export type Link = Pick<StoredCommit, 'sha' | 'parents' | 'authorName'>;

/**
 * How far is looked, and how often the kept process may be asked on the way: beyond some hundred commits a process of
 * git's own is as fast. What is known already costs nothing, and each look leaves more of it.
 */
const LOOKS: readonly Look[] = [
  { depth: 8, reads: 8 },
  { depth: 64, reads: 64 },
  { depth: 1_024, reads: 6 },
];
const BLOCK = 16;
const CACHED_LINKS = 20_000;

interface Look {
  readonly depth: number;
  readonly reads: number;
}

/** A look under way. */
interface Looking {
  readonly depth: number;
  readsLeft: number;
}

/**
 * Answers the questions about history that a few first parents decide, from what a kept process reads. Every answer is
 * certain; where those commits leave a doubt there is none, and git has to be asked.
 */
export class StraightHistory {
  readonly #catFile: Pick<KeptProcess<CatFileAnswer>, 'ask'>;
  /** What a name says never changes. Whether the commit is still there is not asked here. */
  readonly #links = new BoundedCache<Sha, Link>(CACHED_LINKS);

  constructor(catFile: Pick<KeptProcess<CatFileAnswer>, 'ask'>) {
    this.#catFile = catFile;
  }

  learn({ sha, parents, authorName }: Link): void {
    if (this.#links.find(sha) === undefined) this.#links.set(sha, { sha, parents, authorName });
  }

  /** First parents of the tip that none of the others has, newest first. */
  async findOwnLine({ tip, without }: CommitRange): Promise<readonly Link[] | undefined> {
    // The whole line is nobody's question here.
    if (without.length === 0) return undefined;
    for (const { depth, reads } of LOOKS) {
      const looking = { depth, readsLeft: reads };
      const line = await this.#readLine(tip, looking);
      const ends = await Promise.all(without.map((other) => this.#findMeeting(line, other, looking)));
      if (!ends.includes(undefined)) return line.slice(0, Math.min(line.length, ...(ends as readonly number[])));
    }
    return undefined;
  }

  /** Everything that the tip has and none of the others, newest first, where that is one line without merges. */
  async findOwnCommits(range: CommitRange): Promise<readonly Link[] | undefined> {
    const line = await this.findOwnLine(range);
    return line?.every(({ parents }) => parents.length === 1) ? line : undefined;
  }

  /** False only says that it cannot be seen from here. */
  async isSurelyAncestor({ ancestor, descendant }: AncestryPair): Promise<boolean> {
    for (const { depth, reads } of LOOKS) {
      if ((await this.#readLine(descendant, { depth, readsLeft: reads })).some(({ sha }) => sha === ancestor))
        return true;
    }
    return false;
  }

  /** The one commit that both have and that has all else they share. */
  async findMergeBase({ target, head }: MergePair): Promise<Sha | undefined> {
    for (const { depth, reads } of LOOKS) {
      const looking = { depth, readsLeft: reads };
      const line = await this.#readLine(head, looking);
      const end = await this.#findMeeting(line, target, looking);
      if (end === undefined) continue;
      // A merge above the meeting may have brought in more of what the target has.
      return line.slice(0, end).every(({ parents }) => parents.length === 1) ? line[end]?.sha : undefined;
    }
    return undefined;
  }

  /**
   * Where the history of `other` meets the line: that commit and those beneath it are all of the line that `other` has.
   * It is known once every way down from `other` has led to the line.
   */
  async #findMeeting(line: readonly Link[], other: Sha, looking: Looking): Promise<number | undefined> {
    const places = new Map(line.map(({ sha }, index) => [sha, index]));
    const seen = new Set([other]);
    let meeting: number | undefined;
    for (const sha of seen) {
      const place = places.get(sha);
      if (place !== undefined) {
        meeting = Math.min(place, meeting ?? place);
        continue;
      }
      const parents = seen.size > looking.depth ? [] : ((await this.#find(sha, looking))?.parents ?? []);
      if (parents.length === 0) return undefined;
      for (const parent of parents) seen.add(parent);
    }
    return meeting;
  }

  async #readLine(tip: Sha, looking: Looking): Promise<readonly Link[]> {
    const line: Link[] = [];
    let next: Sha | undefined = tip;
    while (next !== undefined && line.length < looking.depth) {
      const link: Link | undefined = await this.#find(next, looking);
      if (link === undefined) break;
      line.push(link);
      [next] = link.parents;
    }
    return line;
  }

  /** Those beneath it are read along: they are asked for next. */
  async #find(sha: Sha, looking: Looking): Promise<Link | undefined> {
    const known = this.#links.find(sha);
    if (known !== undefined || looking.readsLeft === 0) return known;
    looking.readsLeft -= 1;
    const names = Array.from({ length: BLOCK }, (_, index) => (index === 0 ? sha : `${sha}~${index}`));
    const answers = await this.#catFile.ask(names);
    for (const answer of answers) {
      if (answer.kind === 'object' && answer.type === 'commit') this.learn(parseStoredCommit(answer.sha, answer.bytes));
    }
    return this.#links.find(sha);
  }
}
