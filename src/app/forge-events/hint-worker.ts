import type { WebhookHint } from '../../forge/hosting.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { HintSettlement, StoredHint } from '../../storage/hints.ts';
import type { App } from '../core/app.ts';
import { decodeHint, POLL_KIND, type StoredHintBody } from '../core/hint-codec.ts';
import { delayOf, LEASE_MS, Leases } from '../core/leases.ts';
import { WorkPoller } from '../core/work-poller.ts';
import { checkAccess } from './access-hint.ts';
import { readPushedBranch } from './branch-hint.ts';
import { readReportedChecks } from './checks-hint.ts';
import { runCommentCommand } from './commands/comment-command.ts';
import { runLabelCommand } from './commands/label-command.ts';
import { pollRepository } from './forge-poller.ts';
import type { HintOutcome, HintRun } from './hint-run.ts';
import { readPullRequest } from './pull-request-hint.ts';
import { readRules } from './rules-hint.ts';

/** Hints of one forge that this server handles at once: a forge that hangs leaves the slots of the others free. */
const AT_ONCE = 8;
/** A hint whose forge has no free slot is put back for this long, so that it does not block those behind it. */
const BUSY_MS = 2_000;
const RETRY = { firstMs: 1_000, capMs: 60_000 };
/**
 * A change that the forge does not show yet is read again, with a delay as long as the wait so far. After `untilMs` the
 * poller takes over.
 */
const AGAIN = { firstMs: 2_000, capMs: 60_000, untilMs: 5 * 60_000 };
/** A command that is delivered again within this time does not run twice. */
const REMEMBER_MS = 7 * 24 * 3_600_000;
/** A hint that fails by a bug of ours is dropped after this many attempts: the poller reads the same facts later. */
const MAX_BUG_ATTEMPTS = 5;
/** Commands are retried for a day. For everything else the poller finds the state after an outage of any length. */
const MAX_ATTEMPTS = { comment: 1_500, label: 1_500, others: 12 };

/**
 * Handles stored hints: claims them with a lease, reads the present state from the forge, and feeds it to the engine.
 * Several servers work at once. Hints about the same pull request or commit are handled in order, all others in
 * parallel.
 */
// SPEC G33
export class HintWorker {
  readonly #app: App;
  readonly #holder: string;
  readonly #underWay = new Map<StoredHint, Promise<void>>();
  /** The last hint in line for each subject. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #poller: WorkPoller;
  readonly #leases: Leases;
  #stopListening: (() => void) | undefined;
  #isStopped = false;

  constructor(app: App, holder: string) {
    this.#app = app;
    this.#holder = holder;
    const { hints } = app.store;
    this.#poller = new WorkPoller(app, {
      what: 'hints',
      claim: () => this.#claim(),
      findNextDueAt: () => hints.findNextDueAt(),
      isBusy: () => this.#underWay.size >= this.#slots(),
    });
    this.#leases = new Leases(app, {
      endLeases: (of) => hints.endLeases(of),
      renew: async (until) => void (await hints.renewLeases(holder, [...this.#underWay.keys()], until)),
      isAnyHeld: () => this.#underWay.size > 0,
    });
  }

  start(): void {
    this.#stopListening = this.#app.hints.listen(() => this.wake());
    void this.#leases.begin(this.#holder).then(() => this.wake());
  }

  /** Waits for the hints under way. Closing the forges, before or meanwhile, ends those that hang. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening?.();
    this.#leases.stopping();
    await this.#poller.stop();
    await Promise.all(this.#underWay.values());
    this.#leases.end();
  }

  wake(): void {
    this.#poller.wake();
  }

  async #claim(): Promise<void> {
    const free = this.#slots() - this.#underWay.size;
    if (free <= 0) return;
    const now = this.#app.clock.now();
    const claim = { holder: this.#holder, now, leaseUntil: now + LEASE_MS, limit: free };
    for (const hint of await this.#app.store.hints.claim(claim)) {
      if (this.#countUnderWay(hint.host) < AT_ONCE) this.#take(hint);
      else await this.#putBack(hint, now + BUSY_MS);
    }
  }

  #slots(): number {
    const hosts = [...this.#app.forges.values()].filter(({ hosting }) => hosting !== undefined);
    return AT_ONCE * Math.max(1, hosts.length);
  }

  #countUnderWay(host: string): number {
    return [...this.#underWay.keys()].filter((hint) => hint.host === host).length;
  }

  async #putBack(hint: StoredHint, dueAt: Instant): Promise<void> {
    await this.#app.store.hints.settle(hint, this.#holder, { kind: 'later', dueAt, isFailure: false });
    // Hints behind it may be due, for a forge with free slots.
    this.wake();
  }

  #take(hint: StoredHint): void {
    const subject = subjectOf(hint);
    const before = this.#lines.get(subject) ?? Promise.resolve();
    const work = before
      .then(() => this.#handle(hint))
      .finally(() => {
        this.#underWay.delete(hint);
        if (this.#lines.get(subject) === work) this.#lines.delete(subject);
        this.wake();
      });
    this.#underWay.set(hint, work);
    this.#lines.set(subject, work);
  }

  async #handle(hint: StoredHint): Promise<void> {
    try {
      const settlement = await this.#process(hint).catch((error: unknown) => this.#settlementFor(hint, error));
      await this.#app.store.hints.settle(hint, this.#holder, settlement);
    } catch (error) {
      // The lease runs out, and the hint is claimed again.
      this.#app.log.warn({ err: error, hint: hint.key }, 'could not settle a hint');
    }
  }

  async #process(stored: StoredHint): Promise<HintSettlement> {
    const now = this.#app.clock.now();
    // Released at once, so that another server need not wait for the end of the lease.
    if (this.#isStopped) return { kind: 'later', dueAt: stored.dueAt, isFailure: false };
    if (stored.kind === POLL_KIND) return pollRepository(this.#app, stored);
    const answer = await this.#act(stored, decodeHint(stored));
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

  async #act(stored: StoredHint, { repositoryId, hint }: StoredHintBody): Promise<HintOutcome> {
    const app = this.#app;
    const repository = await app.directory.findRepositoryById(repositoryId);
    const forge = app.forges.get(stored.host);
    if (repository === undefined) return 'done';
    if (forge?.hosting === undefined) return 'later';
    // The hint may come from another repository of the same name. The poll that unblocks this one reads everything.
    if (repository.blockedReason !== null && hint.kind !== 'access') return 'done';
    return handleHint({ app, forge, hosting: forge.hosting, repository, receivedAt: stored.receivedAt }, hint);
  }

  // SPEC G130
  #settlementFor(hint: StoredHint, error: unknown): HintSettlement {
    const { clock, log } = this.#app;
    const { key, attempts } = hint;
    const isStopping = this.#isStopped || (error instanceof Fault && error.code === 'SHUTTING_DOWN');
    if (isStopping) return { kind: 'later', dueAt: hint.dueAt, isFailure: false };
    log.warn({ err: error, hint: key, attempts: attempts + 1 }, 'could not handle a webhook hint');
    const isHopeless = attempts + 1 >= (error instanceof Fault ? maxAttempts(hint) : MAX_BUG_ATTEMPTS);
    if (isHopeless && hint.kind !== POLL_KIND) return { kind: 'done' };
    return { kind: 'later', dueAt: clock.now() + delayOf(key, attempts, RETRY), isFailure: true };
  }
}

function handleHint(run: HintRun, hint: WebhookHint): Promise<HintOutcome> {
  switch (hint.kind) {
    case 'pull_request':
      return readPullRequest(run, hint);
    case 'checks':
      return readReportedChecks(run, hint);
    case 'branch':
      return readPushedBranch(run, hint);
    case 'comment':
      return runCommentCommand(run.app, run, hint);
    case 'label':
      return runLabelCommand(run.app, run, hint);
    case 'rules':
      return readRules(run);
    case 'access':
      return checkAccess(run);
    default:
      return unreachable(hint);
  }
}

// SPEC G131
function maxAttempts({ kind }: StoredHint): number {
  return kind === 'comment' || kind === 'label' ? MAX_ATTEMPTS[kind] : MAX_ATTEMPTS.others;
}

function waitFor({ receivedAt }: StoredHint, now: Instant): HintSettlement {
  const waitedMs = now - receivedAt;
  if (waitedMs > AGAIN.untilMs) return { kind: 'done' };
  const delayMs = Math.min(Math.max(waitedMs, AGAIN.firstMs), AGAIN.capMs);
  return { kind: 'later', dueAt: now + delayMs, isFailure: false };
}

/** Hints of one subject keep their order: a push must be read before the comment that followed it. */
// SPEC G132
function subjectOf({ host, key, kind, body }: StoredHint): string {
  if (kind === POLL_KIND) return key;
  const { repositoryId, hint } = decodeAny(body);
  if ('number' in hint) return `${repositoryId}#${hint.number}`;
  return 'sha' in hint ? `${repositoryId} ${hint.sha}` : `${host} ${key}`;
}

/** An unreadable hint is claimed like any other, and fails when it is handled. */
function decodeAny(body: string): { readonly repositoryId?: string; readonly hint: Partial<WebhookHint> } {
  try {
    const { repositoryId, hint } = decodeHint({ body });
    return { repositoryId, hint: hint ?? {} };
  } catch {
    return { hint: {} };
  }
}
