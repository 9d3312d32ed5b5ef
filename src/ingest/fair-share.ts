import type { OrganizationId } from '../storage/accounts.ts';
import type { RepositoryId } from '../storage/repositories.ts';

/** A repository with work to do. */
export interface Contender {
  readonly organizationId: OrganizationId | null;
  readonly repositoryId: RepositoryId;
}

/**
 * Picks the organization that has used the least time so far, and of its repositories the one that has used the least.
 * An idle repository saves up no time: it rejoins level with the others.
 */
// SPEC U41
export class FairShare {
  readonly #organizations = new Shares();
  readonly #repositories = new Map<string, Shares>();

  /** The first one wins a tie. */
  choose<T extends Contender>(contenders: readonly T[]): T | undefined {
    const organization = this.#organizations.least(contenders.map(keyOf));
    if (organization === undefined) return undefined;
    const own = contenders.filter((contender) => keyOf(contender) === organization);
    const repository = this.#sharesIn(organization).least(own.map(({ repositoryId }) => repositoryId));
    return own.find(({ repositoryId }) => repositoryId === repository);
  }

  charge(contender: Contender, ms: number): void {
    this.#organizations.charge(keyOf(contender), ms);
    this.#sharesIn(keyOf(contender)).charge(contender.repositoryId, ms);
  }

  #sharesIn(organization: string): Shares {
    const known = this.#repositories.get(organization) ?? new Shares();
    this.#repositories.set(organization, known);
    return known;
  }
}

function keyOf({ organizationId }: Contender): string {
  return organizationId ?? '';
}

class Shares {
  readonly #had = new Map<string, number>();
  /** The used time of the last one chosen. A newcomer starts here, not below it. */
  #least = 0;

  least(keys: readonly string[]): string | undefined {
    let least: string | undefined;
    for (const key of keys) if (least === undefined || this.#of(key) < this.#of(least)) least = key;
    if (least !== undefined) this.#least = this.#of(least);
    return least;
  }

  charge(key: string, ms: number): void {
    this.#had.set(key, this.#of(key) + ms);
  }

  #of(key: string): number {
    return Math.max(this.#least, this.#had.get(key) ?? 0);
  }
}
