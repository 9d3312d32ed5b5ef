import { Readable } from 'node:stream';
import type { Timing } from '../../lib/clock.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import type { Follower, QueueHint } from '../core/feed.ts';
import { viewEvent } from '../core/feed-event.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { type FeedFilter, findReach, type Reach } from './list-events.ts';

const BEAT_MS = 20_000;
const PAGE = 200;
/** A reader that is this many events behind is cut off. It comes back with the last id that it has. */
const MOST_WAITING = 1_000;

interface StreamEvents extends FeedFilter {
  /** Undefined: from the next event on. */
  readonly lastId: number | undefined;
  /** False once the token is revoked or expired. */
  readonly isAdmitted: () => Promise<boolean>;
}

/** The feed as Server-Sent Events. The stream is read as fast as its reader reads. */
// SPEC X10
export async function streamEvents(app: App, caller: Caller, input: StreamEvents): Answer<Readable> {
  const reach = await findReach(app, caller, input);
  if (isRefusal(reach)) return reach;
  const inbox = new Inbox(app.clock);
  const unfollow = await app.feed.follow(reach.organizationId, inbox);
  const { lastSeq } = await app.store.feed.getHead(reach.organizationId);
  // A store that was restored has fewer events than its readers have seen.
  const seq = Math.min(input.lastId ?? lastSeq, lastSeq);
  const stream = Readable.from(tell(app, caller, { reach, inbox, seq, ...input }), {
    objectMode: false,
    highWaterMark: 16_384,
  });
  stream.once('close', () => {
    unfollow();
    inbox.end();
  });
  return stream;
}

interface Telling extends Pick<StreamEvents, 'isAdmitted'> {
  readonly reach: Reach;
  readonly inbox: Inbox;
  /** The last event that the reader has. */
  readonly seq: number;
}

async function* tell(
  app: App,
  caller: Caller,
  { reach, inbox, seq: from, isAdmitted }: Telling,
): AsyncGenerator<string> {
  yield 'retry: 2000\n\n';
  let seq = from;
  const views = new Hints(app, caller, reach);
  // The inbox has everything since it follows. Before that, the store is read.
  for (let rows: readonly FeedRow[] = []; ; ) {
    rows = await app.store.feed.list({ ...reach, order: 'ASC', afterSeq: seq, limit: PAGE });
    for (const row of rows) yield formatRow(row);
    seq = rows.at(-1)?.seq ?? seq;
    if (rows.length < PAGE) break;
  }
  while (!inbox.isOver) {
    const { rows, hints } = await inbox.next(untilNextBeat(app.clock, caller));
    for (const row of rows) {
      if (isRevocation(row, caller)) return;
      if (row.seq > seq && isWithin(reach, row)) yield formatRow(row);
      seq = Math.max(seq, row.seq);
    }
    for (const hint of hints) {
      const text = await views.format(hint);
      if (text !== '') yield text;
    }
    if (rows.length + hints.length > 0) continue;
    if (!(await isAdmitted())) return;
    yield ': beat\n\n';
  }
}

function untilNextBeat(clock: Timing, { expiresAt }: Caller): number {
  return expiresAt === undefined ? BEAT_MS : Math.max(1, Math.min(BEAT_MS, expiresAt - clock.now()));
}

// SPEC X11
function isRevocation({ type, body }: FeedRow, { tokenId }: Caller): boolean {
  return type === 'token.revoked' && (JSON.parse(body) as { data: { tokenId?: string } }).data.tokenId === tokenId;
}

/** The same as the store's filter. */
function isWithin(reach: Reach, row: FeedRow): boolean {
  const { repositoryIds, targetBranch, prNumber, testId, types, hiddenTypes } = reach;
  if (repositoryIds !== null && !repositoryIds.includes(row.repositoryId as RepositoryId)) return false;
  if (targetBranch !== undefined && row.targetBranch !== targetBranch) return false;
  if (prNumber !== undefined && row.prNumber !== prNumber) return false;
  if (testId !== undefined && row.testId !== testId) return false;
  return types?.includes(row.type) !== false && hiddenTypes?.includes(row.type) !== true;
}

/** Rows are shared by all streams of a server, and so is their text. */
const texts = new WeakMap<FeedRow, string>();

function formatRow(row: FeedRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = `id: ${row.seq}\nevent: ${row.type}\ndata: ${JSON.stringify(viewEvent(row))}\n\n`;
  texts.set(row, text);
  return text;
}

/** Tells a page what to read again. It has no id, because nobody has to have seen it. */
class Hints {
  readonly #app: App;
  readonly #caller: Caller;
  readonly #reach: Reach;
  readonly #seen = new Map<RepositoryId, RepositoryRef | undefined>();
  readonly #told = new Map<QueueId, number>();

  constructor(app: App, caller: Caller, reach: Reach) {
    this.#app = app;
    this.#caller = caller;
    this.#reach = reach;
  }

  /** Empty for a queue that the reader may not see, does not want to, or knows at this version. */
  async format({ queueId, repositoryId, targetBranch, version }: QueueHint): Promise<string> {
    const { repositoryIds, targetBranch: wanted = targetBranch } = this.#reach;
    if (targetBranch !== wanted || repositoryIds?.includes(repositoryId) === false) return '';
    if (!this.#seen.has(repositoryId)) this.#seen.set(repositoryId, await this.#find(repositoryId));
    const repo = this.#seen.get(repositoryId);
    if (repo === undefined || (this.#told.get(queueId) ?? 0) >= version) return '';
    this.#told.set(queueId, version);
    return `event: queue.view\ndata: ${JSON.stringify({ repo, targetBranch, version })}\n\n`;
  }

  async #find(repositoryId: RepositoryId): Promise<RepositoryRef | undefined> {
    const repository = await this.#app.directory.findRepositoryById(repositoryId);
    if (repository === undefined || !maySee(this.#caller, repository)) return undefined;
    const { host, owner, name } = repository;
    return { host, owner, name };
  }
}

/** Keeps what is new until the reader asks for more. Only the newest hint of a queue counts. */
class Inbox implements Follower {
  readonly #clock: Timing;
  #rows: FeedRow[] = [];
  #hints = new Map<QueueId, QueueHint>();
  #wake: (() => void) | undefined;
  isOver = false;

  constructor(clock: Timing) {
    this.#clock = clock;
  }

  take(rows: readonly FeedRow[]): void {
    this.#rows.push(...rows);
    // A queue that another server changed.
    this.hint(rows.flatMap(hintOf));
    if (this.#rows.length > MOST_WAITING) this.end();
    this.#wake?.();
  }

  hint(hints: readonly QueueHint[]): void {
    for (const hint of hints) {
      if ((this.#hints.get(hint.queueId)?.version ?? 0) < hint.version) this.#hints.set(hint.queueId, hint);
    }
    this.#wake?.();
  }

  end(): void {
    this.isOver = true;
    this.#wake?.();
  }

  /** Everything that is new; nothing after `ms` without news. */
  async next(ms: number): Promise<{ readonly rows: readonly FeedRow[]; readonly hints: readonly QueueHint[] }> {
    if (this.#rows.length + this.#hints.size === 0 && !this.isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = this.#clock.after(ms, resolve);
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
      cancel();
    }
    const news = { rows: this.#rows, hints: [...this.#hints.values()] };
    this.#rows = [];
    this.#hints = new Map();
    return news;
  }
}

function hintOf({ queueId, repositoryId, source, version, targetBranch }: FeedRow): QueueHint[] {
  if (queueId === null || source !== queueId || targetBranch === null) return [];
  return [{ queueId: queueId as QueueId, repositoryId: repositoryId as RepositoryId, targetBranch, version }];
}
