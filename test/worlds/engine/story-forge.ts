import {
  type Candidate,
  type CandidateNumber,
  compositionOf,
  type LandedKind,
} from '../../../src/engine/model/candidate.ts';
import type { QueueEvent } from '../../../src/engine/model/event.ts';
import { findLiveMember } from '../../../src/engine/model/queue.ts';
import { getIn } from '../../../src/lib/int-map.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import { partOf } from './branch.ts';
import type { Scenario } from './scenario.ts';
import { numberOf } from './words.ts';

type LandingProblem = Extract<QueueEvent, { readonly kind: 'landing_refused' }>['problem'];

/** Builds and lands the candidates of a story at once, unless the story holds them. */
export class StoryForge {
  landingKind: LandedKind | undefined;
  readonly #story: Scenario;
  readonly #held = { landings: false, landers: false, builds: false };
  readonly #landings: CandidateNumber[] = [];
  readonly #builds: CandidateNumber[] = [];

  constructor(story: Scenario) {
    this.#story = story;
  }

  hold(what: string | undefined, isHeld: boolean): void {
    if (what !== 'landings' && what !== 'landers' && what !== 'builds') throw new Error(`${what} cannot be held`);
    this.#held[what] = isHeld;
    if (isHeld) return;
    if (what === 'landings') for (const number of this.#landings.splice(0)) this.land(number);
    else for (const number of this.#builds.splice(0)) this.build(number);
  }

  /** A landing waits for the story to end it. */
  get isLandingHeld(): boolean {
    return this.#landings.length > 0;
  }

  /** The candidate whose landing is held. The story answers in place of the forge. */
  takeLanding(): Candidate {
    const number = this.#landings.shift();
    if (number === undefined) throw new Error('no landing is held');
    return this.#live(number);
  }

  refuse(candidate: CandidateNumber, problem: LandingProblem): void {
    this.#story.tell({ kind: 'landing_refused', at: this.#story.now, candidate, problem });
  }

  build(number: CandidateNumber): void {
    if (this.#held.builds) this.#builds.push(number);
    else this.#buildNow(number);
  }

  #buildNow(number: CandidateNumber): void {
    const candidate = getIn(this.#story.queue.candidates, number);
    if (candidate === undefined) return;
    const event = { at: this.#story.now, candidate: number };
    for (const [index, { prNumber }] of candidate.members.entries()) {
      const other = this.#story.branch.findConflict(candidate, index);
      if (other === undefined) continue;
      const culprit = other === 'main' ? undefined : numberOf(other);
      this.#story.tell({ kind: 'candidate_conflicted', ...event, prNumber, culprit });
      return;
    }
    const commit = { sha: `c${number}` as Sha, tree: this.#story.branch.treeOf(candidate) };
    this.#story.tell({ kind: 'candidate_built', ...event, ...commit, sources: this.#story.sources });
  }

  land(number: CandidateNumber): void {
    if (this.#held.landers) return;
    this.#story.tell({ kind: 'landing_begun', at: this.#story.now, candidate: number });
    if (this.#held.landings) this.#landings.push(number);
    else this.#landNow(number);
  }

  #landNow(number: CandidateNumber): void {
    // Effects run at least once, so the landing may be answered already.
    if (this.#story.queue.landing?.candidate !== number) return;
    const candidate = this.#live(number);
    const base = this.#story.branch.head;
    if (this.#story.queue.landing.expectedHead !== base) {
      return this.refuse(number, { kind: 'target_moved', head: base, isDescendant: true });
    }
    const entries = compositionOf(candidate).filter(
      (member) => findLiveMember(this.#story.queue, member) !== undefined,
    );
    const { sha: pushedSha, tree: pushedTree } = this.#story.branch.put(...entries.map(partOf));
    const isSame = pushedTree === candidate.commit?.tree;
    this.#story.tell({
      kind: 'candidate_landed',
      at: this.#story.now,
      candidate: number,
      how: this.landingKind ?? (isSame ? 'SAME_TREE' : 'COMPOSED'),
      base,
      pushedSha,
      pushedTree,
      entries: entries.map(({ prNumber }) => ({ prNumber, sha: `l${prNumber}` as Sha, tree: pushedTree })),
    });
  }

  #live(number: CandidateNumber): Candidate {
    const found = getIn(this.#story.queue.candidates, number);
    if (found === undefined) throw new Error(`candidate ${number} is not live`);
    return found;
  }
}
