/**
 * Schedules repositories in the ingest process. A repository works for a moment; then the waiting one that has used the
 * least time is next, organizations before repositories.
 *
 * A large upload pauses in memory and resumes at its next turn. Few uploads may pause, because each keeps a part and
 * the tests of that part in memory. One more is put back, and restarts behind its last stored part when a place is
 * free. Upkeep of a repository pauses in the same way, and needs no place.
 */
import type { Instant, Timing } from '../lib/clock.ts';
import type { OrganizationId } from '../storage/accounts.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import type { Upload } from '../storage/uploads.ts';
import type { TestLimits } from './upload-parts.ts';

export interface UploadTurnsOptions extends Pick<TestLimits, 'maxNewTests'> {
  /** The lease holder; the same after a restart. */
  readonly holder: string;
  /** The length of a turn. Looking for the next repository is too expensive to do at every step. */
  readonly turnMs: number;
  /** Called before and after work on an upload. */
  readonly onWorkingOn: (uploadId: string | undefined) => void;
}

interface Turn extends Contender {
  /** Undefined: the turn is upkeep. */
  readonly upload: Upload | undefined;
  readonly strand: Strand;
  newTests: number;
  hasPaused: boolean;
}

/**
 * The loop stops, or the store is about to be replaced. The current work continues later, from its last stored step.
 */
export class Interrupted extends Error {
  override readonly name: string = 'Interrupted';
}

/**
 * Other uploads wait, and too many are paused already. This one restarts behind its last stored part when a place is
 * free.
 */
class PutBack extends Interrupted {
  override readonly name: string = 'PutBack';
}

/** The server counts with it, too. */
export const LEASE_MS = 60_000;
/** Each takes up to 100 MB. */
const MAX_PAUSED = 2;
/** The share of an upload with too many new tests. */
const SMALL_SHARE = 1 / 10;

export class UploadTurns {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #options: UploadTurnsOptions;
  readonly #share = new FairShare();
  readonly #leases = new Map<RepositoryId, Instant>();
  readonly #paused = new Map<RepositoryId, Turn>();
  /** Repositories whose uploads were put back and wait for a place. */
  readonly #putBack = new Set<RepositoryId>();
  #current: Turn | undefined;
  /** The contender served last; `#turnAt` is its start. */
  #served: Contender | undefined;
  #turnAt = 0;

  constructor(store: Store, clock: Timing, options: UploadTurnsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#options = options;
  }

  /** True if work on the repository is paused: its tests in memory are incomplete, and other work must not use them. */
  isPaused(repositoryId: RepositoryId): boolean {
    return this.#paused.has(repositoryId);
  }

  /** Works on an upload until it ends or its turn is over. Returns false if no upload waits. */
  async take(process: (upload: Upload) => Promise<void>): Promise<boolean> {
    const now = this.#clock.now();
    await this.#keepLeases();
    const turn = await this.#choose(now, process);
    if (turn !== undefined) await this.#run(turn);
    return turn !== undefined;
  }

  /** Starts upkeep of a repository, which ends later if others wait. No work of that repository may be paused. */
  async look(contender: Contender, work: () => Promise<void>): Promise<void> {
    this.#turnAt = performance.now();
    this.#served = undefined;
    await this.#run(this.#begin(contender, undefined, work));
  }

  /** Called by the work at its steps: pauses it if its time is over and others wait. */
  // SPEC U75
  async yieldTurn(): Promise<void> {
    const turn = this.#current;
    if (turn === undefined || !this.#isTurnOver()) return;
    if (!(await this.#isAnyoneWaiting(turn))) {
      this.#turnAt = performance.now();
      return;
    }
    if (!(await this.#makePlaceFor(turn))) throw new PutBack();
    turn.hasPaused = true;
    await turn.strand.pause();
  }

  // SPEC U42
  noteNewTests(count: number): void {
    if (this.#current !== undefined) this.#current.newTests += count;
  }

  /** Paused work restarts later, behind its last stored part. */
  async abandonAll(): Promise<void> {
    for (const turn of this.#paused.values()) await this.#abandon(turn);
    this.#putBack.clear();
  }

  /** Throws if another server holds the lease now. */
  async holdLease(repositoryId: RepositoryId): Promise<void> {
    const now = this.#clock.now();
    if ((this.#leases.get(repositoryId) ?? 0) - now > LEASE_MS / 2) return;
    // The new holder continues the upload: a commit of ours would be refused, or only repeat its work.
    const { holder } = this.#options;
    if (!(await this.#store.uploadWork.renew(holder, repositoryId, now + LEASE_MS))) throw new Interrupted();
    this.#leases.set(repositoryId, now + LEASE_MS);
  }

  async releaseAll(): Promise<void> {
    for (const repositoryId of this.#leases.keys())
      await this.#store.uploadWork.release(this.#options.holder, repositoryId);
  }

  /** Many turns may pass between two of one upload, so paused uploads need their leases renewed here. */
  async #keepLeases(): Promise<void> {
    for (const turn of this.#pausedUploads()) {
      try {
        await this.holdLease(turn.repositoryId);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        await this.#abandon(turn);
      }
    }
  }

  async #choose(now: Instant, process: (upload: Upload) => Promise<void>): Promise<Turn | undefined> {
    const begin = async (contender: Contender) => {
      const upload = await this.#claim(contender.repositoryId, now);
      return upload && this.#begin(contender, upload, () => process(upload));
    };
    const served = this.#served;
    if (served !== undefined && !this.#isTurnOver() && !this.isPaused(served.repositoryId)) {
      const next = await begin(served);
      if (next !== undefined) return next;
    }
    const chosen = this.#share.choose<Contender | Turn>([...this.#paused.values(), ...(await this.#listNew(now))]);
    this.#served = chosen;
    this.#turnAt = performance.now();
    if (chosen === undefined) return undefined;
    return 'strand' in chosen ? chosen : begin(chosen);
  }

  /** Repositories with an upload that could start. */
  async #listNew(now: Instant): Promise<readonly Contender[]> {
    const waiting = await this.#store.uploadWork.listClaimable(this.#options.holder, now, now + LEASE_MS);
    const isFull = this.#pausedUploads().length >= MAX_PAUSED;
    return waiting.filter(
      ({ repositoryId }) => !this.isPaused(repositoryId) && !(isFull && this.#putBack.has(repositoryId)),
    );
  }

  // SPEC U29
  async #claim(repositoryId: RepositoryId, now: Instant): Promise<Upload | undefined> {
    const upload = await this.#store.uploadWork.claim(this.#options.holder, now, now + LEASE_MS, repositoryId);
    if (upload !== undefined) this.#leases.set(repositoryId, now + LEASE_MS);
    return upload;
  }

  #begin({ organizationId, repositoryId }: Contender, upload: Upload | undefined, work: () => Promise<void>): Turn {
    return { organizationId, repositoryId, upload, strand: new Strand(work), newTests: 0, hasPaused: false };
  }

  async #run(turn: Turn): Promise<void> {
    const { onWorkingOn, maxNewTests } = this.#options;
    const begunAt = performance.now();
    this.#paused.delete(turn.repositoryId);
    this.#current = turn;
    if (turn.upload !== undefined) onWorkingOn(turn.upload.id);
    let isEnded = true;
    try {
      isEnded = await turn.strand.run();
    } catch (error) {
      if (!(error instanceof PutBack)) throw error;
      this.#putBack.add(turn.repositoryId);
    } finally {
      this.#current = undefined;
      if (turn.upload !== undefined) onWorkingOn(undefined);
      if (!isEnded) this.#paused.set(turn.repositoryId, turn);
      else if (turn.hasPaused) this.#putBack.clear();
      const share = turn.newTests > maxNewTests ? SMALL_SHARE : 1;
      this.#share.charge(turn, (performance.now() - begunAt) / share);
    }
  }

  #isTurnOver(): boolean {
    return performance.now() - this.#turnAt >= this.#options.turnMs;
  }

  async #isAnyoneWaiting({ repositoryId }: Turn): Promise<boolean> {
    if (this.#paused.size > 0) return true;
    return (await this.#listNew(this.#clock.now())).some((other) => other.repositoryId !== repositoryId);
  }

  /** An organization that holds more than one place gives one up for another organization. */
  async #makePlaceFor({ upload, organizationId }: Turn): Promise<boolean> {
    const paused = this.#pausedUploads();
    if (upload === undefined || paused.length < MAX_PAUSED) return true;
    const crowd = paused.filter((other) => other.organizationId !== organizationId);
    const second = crowd.find((other, index) =>
      crowd.slice(0, index).some((earlier) => earlier.organizationId === other.organizationId),
    );
    if (second === undefined) return false;
    await this.#abandon(second);
    this.#putBack.add(second.repositoryId);
    return true;
  }

  #pausedUploads(): readonly Turn[] {
    return [...this.#paused.values()].filter(({ upload }) => upload !== undefined);
  }

  async #abandon(turn: Turn): Promise<void> {
    this.#paused.delete(turn.repositoryId);
    await turn.strand.abandon();
  }
}

/** Work that pauses at its steps and resumes there: other work runs in between. */
class Strand {
  readonly #begin: () => Promise<void>;
  #ended: Promise<void> | undefined;
  #pause = Promise.withResolvers<void>();
  #goOn = Promise.withResolvers<void>();

  constructor(begin: () => Promise<void>) {
    this.#begin = begin;
  }

  /** Starts or resumes the work. Returns false if it paused before its end. Throws the work's error. */
  async run(): Promise<boolean> {
    this.#pause = Promise.withResolvers();
    if (this.#ended === undefined) this.#ended = this.#begin();
    else this.#goOn.resolve();
    return Promise.race([this.#ended.then(() => true), this.#pause.promise.then(() => false)]);
  }

  /** Called by the work itself. */
  async pause(): Promise<void> {
    this.#goOn = Promise.withResolvers();
    this.#pause.resolve();
    await this.#goOn.promise;
  }

  /** Ends paused work as if it had been interrupted at its pause. */
  async abandon(): Promise<void> {
    this.#goOn.reject(new Interrupted());
    await this.#ended?.catch(() => undefined);
  }
}

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
