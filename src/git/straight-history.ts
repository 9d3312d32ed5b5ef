import { BoundedCache } from '../lib/bounded-cache.ts';
import type { Sha } from '../lib/sha.ts';
import type { CatFileAnswer } from './cat-file-batch.ts';
import { parseStoredCommit } from './commit.ts';
import type { AncestryPair, CommitRange, MergePair, StoredCommit } from './git.ts';
import type { KeptProcess } from './kept-process.ts';

export type Link = Pick<StoredCommit, 'sha' | 'parents' | 'authorName'>;

/** Depths, and the reads that each may cost. Beyond some hundred commits a git process of its own is as fast. */
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

interface Looking {
  readonly depth: number;
  readsLeft: number;
}

/** Every answer is certain. When a few first parents do not suffice it is undefined, and the caller asks git. */
export class StraightHistory {
  readonly #catFile: Pick<KeptProcess<CatFileAnswer>, 'ask'>;
  /** A commit id always means the same commit. Whether the repository still has it is not checked here. */
  readonly #links = new BoundedCache<Sha, Link>(CACHED_LINKS);

  constructor(catFile: Pick<KeptProcess<CatFileAnswer>, 'ask'>) {
    this.#catFile = catFile;
  }

  learn({ sha, parents, authorName }: Link): void {
    if (this.#links.find(sha) === undefined) this.#links.set(sha, { sha, parents, authorName });
  }

  /** First parents of the tip that none of the others has, newest first. */
  async findOwnLine({ tip, without }: CommitRange): Promise<readonly Link[] | undefined> {
    // No caller needs the complete line.
    if (without.length === 0) return undefined;
    for (const { depth, reads } of LOOKS) {
      const looking = { depth, readsLeft: reads };
      const line = await this.#readLine(tip, looking);
      const ends = await Promise.all(without.map((other) => this.#findMeeting(line, other, looking)));
      if (!ends.includes(undefined)) return line.slice(0, Math.min(line.length, ...(ends as readonly number[])));
    }
    return undefined;
  }

  /** All commits that only the tip has, newest first, when they form one line without merges. */
  async findOwnCommits(range: CommitRange): Promise<readonly Link[] | undefined> {
    const line = await this.findOwnLine(range);
    return line?.every(({ parents }) => parents.length === 1) ? line : undefined;
  }

  /** False means unknown. */
  async isSurelyAncestor({ ancestor, descendant }: AncestryPair): Promise<boolean> {
    for (const { depth, reads } of LOOKS) {
      if ((await this.#readLine(descendant, { depth, readsLeft: reads })).some(({ sha }) => sha === ancestor))
        return true;
    }
    return false;
  }

  /** The single merge base of the two. */
  async findMergeBase({ target, head }: MergePair): Promise<Sha | undefined> {
    for (const { depth, reads } of LOOKS) {
      const looking = { depth, readsLeft: reads };
      const line = await this.#readLine(head, looking);
      const end = await this.#findMeeting(line, target, looking);
      if (end === undefined) continue;
      // A merge above the meeting point may have brought in more of the target's commits.
      return line.slice(0, end).every(({ parents }) => parents.length === 1) ? line[end]?.sha : undefined;
    }
    return undefined;
  }

  /**
   * Finds the point at which the history of `other` meets the line: that commit and those beneath it are all that
   * `other` has of the line. It is known once every path down from `other` has reached the line.
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

  /** Also reads the commits beneath, since they are needed next. */
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
