import type { Notice } from '../../forge/hosting.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { NoticeSettlement, StoredNotice } from '../../storage/notices.ts';
import type { App } from '../core/app.ts';
import { decodeNotice, LOOK_KIND, type PlacedNotice } from '../core/hint-codec.ts';
import { delayOf, LEASE_MS, Leases } from '../core/leases.ts';
import { Lookout } from '../core/work-poller.ts';
import { lookAtAccess } from './access-hint.ts';
import { lookAtBranch } from './branch-hint.ts';
import { lookAtChecks } from './checks-hint.ts';
import { obeyComment } from './commands/comment-command.ts';
import { obeyLabel } from './commands/label-command.ts';
import { lookAround } from './forge-poller.ts';
import type { NoticeAnswer, NoticeRun } from './hint-run.ts';
import { lookAtPullRequest } from './pull-request-hint.ts';
import { lookAtRules } from './rules-hint.ts';

/** How many places of one forge this server looks at once: one that hangs keeps nobody from looking at another. */
const AT_ONCE = 8;
/** What finds its forge's hands busy is not among those that are due longest any more. */
const BUSY_MS = 2_000;
const RETRY = { firstMs: 1_000, capMs: 60_000 };
/** What is not there yet is looked for again after as long as it was waited for, and at last no more: looks around go on. */
const AGAIN = { firstMs: 2_000, capMs: 60_000, untilMs: 5 * 60_000 };
/** Told of once more within this time, it is not acted upon again. */
const REMEMBER_MS = 7 * 24 * 3_600_000;
/** What fails by a bug of ours is left alone after so many attempts: the next look around sees what came of it. */
const MAX_BUG_ATTEMPTS = 5;
/** People's commands are tried for a day; what is true is found by looking around, however long a forge does not answer. */
const MAX_ATTEMPTS = { comment: 1_500, label: 1_500, others: 12 };

/**
 * Looks where forges told us to look: claims notices with a lease, reads at the forge what is true now, and tells the
 * engine. Several servers do so at once. What is about the same pull request or commit is looked at in the order in which
 * it was told; everything else side by side.
 */
export class NoticeWorker {
  readonly #app: App;
  readonly #holder: string;
  readonly #underWay = new Map<StoredNotice, Promise<void>>();
  /** The latest look at each subject. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #lookout: Lookout;
  readonly #leases: Leases;
  #stopListening: (() => void) | undefined;
  #isStopped = false;

  constructor(app: App, holder: string) {
    this.#app = app;
    this.#holder = holder;
    const { notices } = app.store;
    this.#lookout = new Lookout(app, {
      what: 'notices',
      claim: () => this.#claim(),
      findNextDueAt: () => notices.findNextDueAt(),
      isBusy: () => this.#underWay.size >= this.#hands(),
    });
    this.#leases = new Leases(app, {
      endLeases: (of) => notices.endLeases(of),
      renew: async (until) => void (await notices.renewLeases(holder, [...this.#underWay.keys()], until)),
      isAnyHeld: () => this.#underWay.size > 0,
    });
  }

  start(): void {
    this.#stopListening = this.#app.notices.listen(() => this.wake());
    void this.#leases.begin(this.#holder).then(() => this.wake());
  }

  /** Looks under way end by themselves; whoever closes the forges ends those that hang. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening?.();
    this.#leases.stopping();
    await this.#lookout.stop();
    await Promise.all(this.#underWay.values());
    this.#leases.end();
  }

  /** There may be something to look at. */
  wake(): void {
    this.#lookout.wake();
  }

  async #claim(): Promise<void> {
    const free = this.#hands() - this.#underWay.size;
    if (free <= 0) return;
    const now = this.#app.clock.now();
    const claim = { holder: this.#holder, now, leaseUntil: now + LEASE_MS, limit: free };
    for (const notice of await this.#app.store.notices.claim(claim)) {
      if (this.#countUnderWay(notice.host) < AT_ONCE) this.#take(notice);
      else await this.#putBack(notice, now + BUSY_MS);
    }
  }

  #hands(): number {
    const hosts = [...this.#app.forges.values()].filter(({ hosting }) => hosting !== undefined);
    return AT_ONCE * Math.max(1, hosts.length);
  }

  #countUnderWay(host: string): number {
    return [...this.#underWay.keys()].filter((notice) => notice.host === host).length;
  }

  async #putBack(notice: StoredNotice, dueAt: Instant): Promise<void> {
    await this.#app.store.notices.settle(notice, this.#holder, { kind: 'later', dueAt, isFailure: false });
    // Behind it, others may be due that can be looked at.
    this.wake();
  }

  #take(notice: StoredNotice): void {
    const subject = subjectOf(notice);
    const before = this.#lines.get(subject) ?? Promise.resolve();
    const look = before
      .then(() => this.#handle(notice))
      .finally(() => {
        this.#underWay.delete(notice);
        if (this.#lines.get(subject) === look) this.#lines.delete(subject);
        this.wake();
      });
    this.#underWay.set(notice, look);
    this.#lines.set(subject, look);
  }

  async #handle(notice: StoredNotice): Promise<void> {
    try {
      const settlement = await this.#look(notice).catch((error: unknown) => this.#giveWay(notice, error));
      await this.#app.store.notices.settle(notice, this.#holder, settlement);
    } catch (error) {
      // Its lease ends by itself, and then somebody looks again.
      this.#app.log.warn({ err: error, notice: notice.key }, 'could not settle a notice');
    }
  }

  async #look(stored: StoredNotice): Promise<NoticeSettlement> {
    const now = this.#app.clock.now();
    // Another server need not wait for the end of the lease.
    if (this.#isStopped) return { kind: 'later', dueAt: stored.dueAt, isFailure: false };
    if (stored.kind === LOOK_KIND) return lookAround(this.#app, stored);
    const answer = await this.#lookAt(stored, decodeNotice(stored));
    switch (answer) {
      case 'done':
        return { kind: 'done' };
      case 'remember':
        return { kind: 'remember', until: now + REMEMBER_MS };
      case 'later':
        return waitFor(stored, this.#app.clock.now());
      default:
        return unreachable(answer);
    }
  }

  async #lookAt(stored: StoredNotice, { repositoryId, notice }: PlacedNotice): Promise<NoticeAnswer> {
    const app = this.#app;
    const repository = await app.directory.findRepositoryById(repositoryId);
    const forge = app.forges.get(stored.host);
    if (repository === undefined) return 'done';
    if (forge?.hosting === undefined) return 'later';
    // The look that finds it free again sees what was told meanwhile; what another one of its name tells is not for us.
    if (repository.barred !== null && notice.kind !== 'access') return 'done';
    return lookAt({ app, forge, hosting: forge.hosting, repository, receivedAt: stored.receivedAt }, notice);
  }

  #giveWay(notice: StoredNotice, error: unknown): NoticeSettlement {
    const { clock, log } = this.#app;
    const { key, attempts } = notice;
    const isStopping = this.#isStopped || (error instanceof Fault && error.code === 'SHUTTING_DOWN');
    if (isStopping) return { kind: 'later', dueAt: notice.dueAt, isFailure: false };
    log.warn({ err: error, notice: key, attempts: attempts + 1 }, 'could not look where a forge told to look');
    const isHopeless = attempts + 1 >= (error instanceof Fault ? maxAttempts(notice) : MAX_BUG_ATTEMPTS);
    if (isHopeless && notice.kind !== LOOK_KIND) return { kind: 'done' };
    return { kind: 'later', dueAt: clock.now() + delayOf(key, attempts, RETRY), isFailure: true };
  }
}

function lookAt(run: NoticeRun, notice: Notice): Promise<NoticeAnswer> {
  switch (notice.kind) {
    case 'pull_request':
      return lookAtPullRequest(run, notice);
    case 'checks':
      return lookAtChecks(run, notice);
    case 'branch':
      return lookAtBranch(run, notice);
    case 'comment':
      return obeyComment(run.app, run, notice);
    case 'label':
      return obeyLabel(run.app, run, notice);
    case 'rules':
      return lookAtRules(run);
    case 'access':
      return lookAtAccess(run);
    default:
      return unreachable(notice);
  }
}

function maxAttempts({ kind }: StoredNotice): number {
  return kind === 'comment' || kind === 'label' ? MAX_ATTEMPTS[kind] : MAX_ATTEMPTS.others;
}

function waitFor({ receivedAt }: StoredNotice, now: Instant): NoticeSettlement {
  const waitedMs = now - receivedAt;
  if (waitedMs > AGAIN.untilMs) return { kind: 'done' };
  const delayMs = Math.min(Math.max(waitedMs, AGAIN.firstMs), AGAIN.capMs);
  return { kind: 'later', dueAt: now + delayMs, isFailure: false };
}

/** A push is seen before the comment that came after it. */
function subjectOf({ host, key, kind, body }: StoredNotice): string {
  if (kind === LOOK_KIND) return key;
  const { repositoryId, notice } = decodeAny(body);
  if ('number' in notice) return `${repositoryId}#${notice.number}`;
  return 'sha' in notice ? `${repositoryId} ${notice.sha}` : `${host} ${key}`;
}

/** One that cannot be read fails when somebody looks, like any other. */
function decodeAny(body: string): { readonly repositoryId?: string; readonly notice: Partial<Notice> } {
  try {
    const { repositoryId, notice } = decodeNotice({ body });
    return { repositoryId, notice: notice ?? {} };
  } catch {
    return { notice: {} };
  }
}
