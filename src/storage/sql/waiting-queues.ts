/** Commits of a queue, by version. */
interface Range {
  readonly first: number;
  readonly last: number;
}

export interface Asked {
  /** Whether commits that are not in the ranges may have events that wait, too: those of before the start. */
  readonly isAll: boolean;
  readonly ranges: ReadonlyMap<string, Range>;
}

/**
 * The commits with events that may wait for places, where one process makes all commits. An index of them would be one
 * more page for every commit of SQLite to write.
 */
export class WaitingQueues {
  #isAll = true;
  readonly #ranges = new Map<string, Range>();

  note(queueId: string, version: number): void {
    this.#ranges.set(queueId, { first: this.#ranges.get(queueId)?.first ?? version, last: version });
  }

  hasAny(): boolean {
    return this.#isAll || this.#ranges.size > 0;
  }

  ask(): Asked {
    return { isAll: this.#isAll, ranges: new Map(this.#ranges) };
  }

  /** None of these commits had any. Later ones may have been noted meanwhile. */
  drop({ ranges }: Asked): void {
    this.#isAll = false;
    for (const [queueId, { last }] of ranges) {
      if (this.#ranges.get(queueId)?.last === last) this.#ranges.delete(queueId);
    }
  }

  /** All data was replaced. */
  reset(): void {
    this.#isAll = true;
  }
}
