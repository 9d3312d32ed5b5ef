import type { WebhookHint } from '../../forge/hosting.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { HintSettlement, StoredHint } from '../../storage/hints.ts';
import type { App } from '../core/app.ts';
import { decodeHint, POLL_KIND, type StoredHintBody } from '../core/hint-codec.ts';
import { delayOf, LeasedWorker } from '../core/leased-worker.ts';
import { requestRepositoryPoll } from '../core/request-poll.ts';
import { readTargetBranch } from '../queue/forge-facts.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { settleIdentity } from '../repositories/settle-identity.ts';
import { readReportedChecks } from './checks-hint.ts';
import { runCommentCommand } from './commands/comment-command.ts';
import { runLabelCommand } from './commands/label-command.ts';
import { pollRepository } from './forge-poller.ts';
import type { HintOf, HintOutcome, HintRun } from './hint-run.ts';
import { readPullRequest } from './pull-request-hint.ts';

/** Hints of one forge that this server handles at once: a forge that hangs leaves the slots of the others free. */
const AT_ONCE = 8;
const RETRY = { firstMs: 1_000, capMs: 60_000 };
/** The delay is as long as the wait so far. After `untilMs` the poller takes over. */
const AGAIN = { firstMs: 2_000, capMs: 60_000, untilMs: 5 * 60_000 };
/** A command that is delivered again within this time does not run twice. */
const REMEMBER_MS = 7 * 24 * 3_600_000;
/** A hint that fails by a bug of ours is dropped after this many attempts: the poller reads the same facts later. */
const MAX_BUG_ATTEMPTS = 5;
/** Commands are retried for a day. For everything else the poller finds the state after an outage of any length. */
// SPEC G131
const MAX_ATTEMPTS: { readonly [kind: string]: number } = { comment: 1_500, label: 1_500 };
const MAX_OTHER_ATTEMPTS = 12;

/** Hints about the same pull request or commit are handled in order, all others in parallel. */
// SPEC G33
export function createHintWorker(app: App, holder: string): HintWorker {
  return new LeasedWorker<StoredHint, HintSettlement>(app, holder, {
    name: 'hint',
    store: app.store.hints,
    listen: (wake) => app.hints.listen(wake),
    slots: () => AT_ONCE * Math.max(1, [...app.forges.values()].filter(({ hosting }) => hosting !== undefined).length),
    idOf: ({ host, key }) => `${host} ${key}`,
    lineOf: subjectOf,
    isCrowded: ({ host }, held) => held.filter((other) => other.host === host).length >= AT_ONCE,
    run: (hint) => (hint.kind === POLL_KIND ? pollRepository(app, hint) : handle(app, hint)),
    settlementFor: (hint, error, isStopped) => settlementFor(app, hint, error, isStopped),
  });
}

export type HintWorker = LeasedWorker<StoredHint, HintSettlement>;

async function handle(app: App, stored: StoredHint): Promise<HintSettlement> {
  const now = app.clock.now();
  const answer = await act(app, stored, decodeHint(stored));
  switch (answer) {
    case 'done':
      return { kind: 'done' };
    case 'remember':
      return { kind: 'remember', until: now + REMEMBER_MS };
    case 'later':
      return waitFor(stored, app.clock.now());
    default:
      return unreachable(answer);
  }
}

async function act(app: App, stored: StoredHint, { repositoryId, hint }: StoredHintBody): Promise<HintOutcome> {
  const repository = await app.directory.findRepositoryById(repositoryId);
  const forge = app.forges.get(stored.host);
  if (repository === undefined) return 'done';
  if (forge?.hosting === undefined) return 'later';
  // The hint may come from another repository of the same name. The poll that unblocks this one reads everything.
  if (repository.blockedReason !== null && hint.kind !== 'access') return 'done';
  return handleHint({ app, forge, hosting: forge.hosting, repository, receivedAt: stored.receivedAt }, hint);
}

// SPEC G130
function settlementFor({ clock, log }: App, hint: StoredHint, error: unknown, isStopped: boolean): HintSettlement {
  const { key, attempts, dueAt } = hint;
  if (isStopped || (error instanceof Fault && error.code === 'SHUTTING_DOWN')) return { kind: 'postpone', dueAt };
  log.warn({ err: error, hint: key, attempts: attempts + 1 }, 'could not handle a webhook hint');
  const isHopeless =
    attempts + 1 >= (error instanceof Fault ? (MAX_ATTEMPTS[hint.kind] ?? MAX_OTHER_ATTEMPTS) : MAX_BUG_ATTEMPTS);
  if (isHopeless && hint.kind !== POLL_KIND) return { kind: 'done' };
  return { kind: 'retry', dueAt: clock.now() + delayOf(key, attempts, RETRY) };
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

function waitFor({ receivedAt }: StoredHint, now: Instant): HintSettlement {
  const waitedMs = now - receivedAt;
  if (waitedMs > AGAIN.untilMs) return { kind: 'done' };
  const delayMs = Math.min(Math.max(waitedMs, AGAIN.firstMs), AGAIN.capMs);
  return { kind: 'postpone', dueAt: now + delayMs };
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

/** Lost access is an outage like any other: the poller retries until the forge answers. */
// SPEC G37
async function checkAccess({ app, hosting, repository }: HintRun): Promise<HintOutcome> {
  hosting.forget(repository.owner, repository.name);
  try {
    await settleIdentity(app, hosting, repository, await hosting.identify(repository));
  } catch (error) {
    app.outages.begin(repository.id, error, app.clock.now());
  }
  await requestRepositoryPoll(app, repository);
  return 'done';
}

/** Pushes to other branches than a queue's target branch do not matter. */
async function readPushedBranch({ app, repository }: HintRun, hint: HintOf<'branch'>): Promise<HintOutcome> {
  for (const found of await loadQueues(app, [repository])) {
    if (found.queue.branch === hint.branch) await readTargetBranch(app, found);
  }
  return 'done';
}

/** Branch protection or permissions changed: the cached rules are dropped, and everything is polled again. */
async function readRules({ app, hosting, repository }: HintRun): Promise<HintOutcome> {
  hosting.forget(repository.owner, repository.name);
  await requestRepositoryPoll(app, repository);
  return 'done';
}

const WATCH_EVERY_MS = 60_000;
/** A due hint is handled within a second, and a hint whose forge is away is not due: it waits for its backoff. */
const LATE_MS = 30_000;

/** Warns when the servers cannot keep up with webhooks. */
export function createHintWatch(app: App): PeriodicTask {
  const { store, clock, log } = app;
  const round = async () => {
    const hints = await store.hints.countOverdue(clock.now() - LATE_MS);
    if (hints > 0) log.warn({ hints }, 'webhook hints overdue');
  };
  const failure = 'could not count overdue webhook hints';
  return new PeriodicTask(app, { firstMs: WATCH_EVERY_MS, everyMs: WATCH_EVERY_MS, failure, round });
}
