import { Readable } from 'node:stream';
import { memo } from '../../lib/memo.ts';
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
const BEAT = Buffer.from(': beat\n\n');
const RETRY = Buffer.from('retry: 2000\n\n');
const PAGE = 200;
/** Chunks that a stream holds before it waits for its reader. */
const FEW = 16;
/** A reader that is this many events behind is cut off. It comes back with the last id that it has. */
const MOST_WAITING = 1_000;

/** Hints are no stored events: a stranger learns that a queue changed, and not who did it. */
const NO_EVENTS = ['queue.view'];

interface StreamEvents extends FeedFilter {
  /** Undefined: from the next event on. */
  readonly lastId: number | undefined;
  /** False once the token is revoked or expired. */
  readonly isAdmitted: () => Promise<boolean>;
}

/** The feed as Server-Sent Events. The stream is read as fast as its reader reads. */
// SPEC X10
export async function streamEvents(app: App, caller: Caller, input: StreamEvents): Answer<Readable> {
  const found = await findReach(app, caller, input);
  if (isRefusal(found)) return found;
  const reach = caller.isStranger ? { ...found, types: NO_EVENTS } : found;
  const stream = new EventStream(app, caller, { reach, isAdmitted: input.isAdmitted });
  const unfollow = await app.feed.follow(reach.organizationId, stream);
  stream.once('close', unfollow);
  const { lastSeq } = await app.store.feed.getHead(reach.organizationId);
  // A store that was restored has fewer events than its readers have seen.
  void stream.begin(Math.min(input.lastId ?? lastSeq, lastSeq));
  return stream;
}

/** Events are pushed as they come. A loop that waits in each of a thousand streams would cost twice the memory and time. */
class EventStream extends Readable implements Follower {
  readonly #app: App;
  readonly #caller: Caller;
  readonly #reach: Reach;
  readonly #isAdmitted: () => Promise<boolean>;
  /** Null for a repository that the reader may not see. */
  readonly #repos = new Map<RepositoryId, RepositoryRef | null>();
  readonly #versions = new Map<QueueId, number>();
  /** Hints that wait for the reader. Only the newest of a queue counts. */
  readonly #hints = new Map<QueueId, QueueHint>();
  /** Events that came while older ones are read from the store; undefined after that. */
  #early: FeedRow[] | undefined = [];
  /** The last event that was sent, or passed over. */
  #seq = 0;
  #isOver = false;
  #cancelBeat: (() => void) | undefined;
  #goOn: (() => void) | undefined;

  constructor(app: App, caller: Caller, { reach, isAdmitted }: { reach: Reach } & Pick<StreamEvents, 'isAdmitted'>) {
    // Chunks are counted and not their bytes, which all streams share.
    super({ objectMode: true, highWaterMark: FEW });
    this.#app = app;
    this.#caller = caller;
    this.#reach = reach;
    this.#isAdmitted = isAdmitted;
  }

  /** Events from before the stream follows are read from the store. */
  async begin(from: number): Promise<void> {
    this.#seq = from;
    this.#send(RETRY);
    this.#beatLater();
    try {
      for (let isRead = false; !isRead && !this.#isOver; ) {
        const query = { ...this.#reach, order: 'ASC', afterSeq: this.#seq, limit: PAGE } as const;
        const rows = await this.#app.store.feed.list(query);
        this.#tell(rows);
        isRead = rows.length < PAGE;
        if (!isRead) await this.#untilRead();
      }
      const early = this.#early ?? [];
      this.#early = undefined;
      this.#tell(early);
      this.#passHintsOn();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  receive(rows: readonly FeedRow[]): void {
    if (this.#early === undefined) this.#tell(rows);
    else this.#early.push(...rows);
    if (this.readableLength + (this.#early?.length ?? 0) > MOST_WAITING) this.destroy();
  }

  hint(hints: readonly QueueHint[]): void {
    for (const hint of hints) {
      if ((this.#hints.get(hint.queueId)?.version ?? 0) < hint.version) this.#hints.set(hint.queueId, hint);
    }
    if (this.#early === undefined && this.readableLength < FEW) this.#passHintsOn();
  }

  end(): void {
    if (this.#isOver) return;
    this.push(null);
    this.#isOver = true;
  }

  override _read(): void {
    this.#goOn?.();
    if (this.#early === undefined) this.#passHintsOn();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#isOver = true;
    this.#cancelBeat?.();
    this.#goOn?.();
    done(error);
  }

  #send(chunk: Buffer): void {
    if (!this.#isOver) this.push(chunk);
  }

  #tell(rows: readonly FeedRow[]): void {
    // A timer may be late.
    if ((this.#caller.expiresAt ?? Number.POSITIVE_INFINITY) <= this.#app.clock.now()) return this.end();
    for (const row of rows) {
      if (isRevocation(row, this.#caller)) return this.end();
      if (row.seq > this.#seq && isWithin(this.#reach, row)) this.#send(formatRow(row));
      this.#seq = Math.max(this.#seq, row.seq);
    }
  }

  async #untilRead(): Promise<void> {
    if (this.readableLength < FEW || this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#goOn = resolve;
    await promise;
    this.#goOn = undefined;
  }

  #passHintsOn(): void {
    const { repositoryIds, targetBranch } = this.#reach;
    for (const hint of this.#hints.values()) {
      if (targetBranch !== undefined && targetBranch !== hint.targetBranch) continue;
      if (repositoryIds?.includes(hint.repositoryId) === false) continue;
      const repo = this.#repos.get(hint.repositoryId);
      if (repo === undefined) void this.#findRepo(hint);
      else this.#sendHint(repo, hint);
    }
    this.#hints.clear();
  }

  async #findRepo(hint: QueueHint): Promise<void> {
    try {
      const found = await this.#app.directory.findRepositoryById(hint.repositoryId);
      const isSeen = found !== undefined && maySee(this.#caller, found);
      const repo = isSeen ? { host: found.host, owner: found.owner, name: found.name } : null;
      this.#repos.set(hint.repositoryId, repo);
      this.#sendHint(repo, hint);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  /** Tells a page what to read again. It has no id, because nobody has to have seen it. */
  #sendHint(repo: RepositoryRef | null, hint: QueueHint): void {
    const { queueId, version } = hint;
    if (repo === null || (this.#versions.get(queueId) ?? 0) >= version) return;
    this.#versions.set(queueId, version);
    this.#send(formatHint(hint, repo));
  }

  /** A token that a busy stream uses ends like any other. */
  #beatLater(): void {
    if (this.#isOver) return;
    const { clock } = this.#app;
    const { expiresAt = Number.POSITIVE_INFINITY } = this.#caller;
    const beatMs = Math.max(1, Math.min(BEAT_MS, expiresAt - clock.now()));
    this.#cancelBeat = clock.after(beatMs, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    try {
      if (!(await this.#isAdmitted())) return this.end();
      this.#send(BEAT);
      this.#beatLater();
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}

// SPEC X11
function isRevocation({ type, body }: FeedRow, { tokenId, person }: Caller): boolean {
  if (type !== 'token.revoked' && type !== 'session.revoked') return false;
  const { data } = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> };
  if (type === 'token.revoked') return data['tokenId'] === tokenId;
  // The person may have another session, whose stream comes back.
  return person !== undefined && data['provider'] === person.provider && data['subject'] === person.subject;
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

/** Rows and hints are shared by all streams of a server, and so are their bytes. */
const formatRow = memo((row: FeedRow) =>
  Buffer.from(`id: ${row.seq}\nevent: ${row.type}\ndata: ${JSON.stringify(viewEvent(row))}\n\n`),
);

/** A hint has one repository, which each stream has read for itself. */
const formatHint = memo(
  ({ targetBranch, version }: QueueHint, repo: RepositoryRef) =>
    Buffer.from(`event: queue.view\ndata: ${JSON.stringify({ repo, targetBranch, version })}\n\n`),
  () => [],
);
