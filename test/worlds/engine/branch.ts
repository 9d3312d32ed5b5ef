import { type Candidate, compositionOf } from '../../../src/engine/model/candidate.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import { letter, shaToHistory, suffix, treeName } from './words.ts';

/** The git of a story: the target branch and the heads of pull requests as letters. */
export class Branch {
  /** The commits of the target branch as letters, oldest first. `M` is the first one. */
  readonly history: string[] = ['M'];
  /** `B A`: B conflicts with A; `B main`: with the target branch. */
  readonly conflicts: [string, string][] = [];
  /** Pull requests that change nothing. The tree is the same with and without them. */
  readonly empty = new Set<string>();
  readonly #pushes = new Map<PrNumber, number>();

  get head(): Sha {
    return `head:${this.history.join('+')}` as Sha;
  }

  headOf(prNumber: PrNumber): Sha {
    return `${letter(prNumber)}@${this.#pushes.get(prNumber) ?? 1}` as Sha;
  }

  push(prNumber: PrNumber): void {
    this.#pushes.set(prNumber, (this.#pushes.get(prNumber) ?? 1) + 1);
  }

  /** Adds commits to the target branch. */
  put(...parts: readonly string[]): { readonly sha: Sha; readonly tree: Sha } {
    this.history.push(...parts);
    return { sha: this.head, tree: this.treeWith() };
  }

  /** The tree of the target branch and these. Its name depends on the contents and not on their order. */
  treeWith(...parts: readonly string[]): Sha {
    return this.#tree([...this.history, ...parts]);
  }

  treeOf(candidate: Candidate): Sha {
    const members = compositionOf(candidate).map(partOf);
    return this.#tree([...shaToHistory(candidate.base.sha), ...members]);
  }

  #tree(parts: readonly string[]): Sha {
    return treeName(parts.filter((part) => !this.empty.has(part)));
  }

  /** The name of what this member conflicts with, or `main`. */
  findConflict(candidate: Candidate, index: number): string | undefined {
    const name = letter(candidate.members[index]?.prNumber as PrNumber);
    const ahead = [...candidate.beneath, ...candidate.members.slice(0, index)].map(({ prNumber }) => letter(prNumber));
    const base = shaToHistory(candidate.base.sha);
    for (const [one, other] of this.conflicts) {
      if (one !== name) continue;
      if (other === 'main' || base.includes(other)) return 'main';
      if (ahead.includes(other)) return other;
    }
    return undefined;
  }
}

/** The commit of a member on the target branch: `A`, and `A2` after a push. */
export function partOf({ prNumber, headSha }: { readonly prNumber: PrNumber; readonly headSha: Sha }): string {
  return `${letter(prNumber)}${suffix(headSha)}`;
}
