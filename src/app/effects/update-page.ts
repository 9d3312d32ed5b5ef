import { randomUUID } from 'node:crypto';
import { freeSlots } from '../../engine/line/slots.ts';
import { compositionOf } from '../../engine/model/candidate.ts';
import type { UpdatePage } from '../../engine/model/effect.ts';
import { type Entry, findCandidate, isLive, ownRunOf, type Queue } from '../../engine/model/queue.ts';
import type { PageWriter } from '../../forge/hosting.ts';
import { isKnownNotApplied } from '../../forge/known-not-applied.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { memo } from '../../lib/memo.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { spreadOf } from '../core/leased-worker.ts';
import { versionOfEffect } from '../core/queue-codec.ts';
import { collectPageFacts, type PageHost } from '../pr-page/collect-page-facts.ts';
import { changeNote, findNote, type Note, type NoteKey, type StoredNote } from '../pr-page/note.ts';
import { createPairedWriter } from '../pr-page/paired-writer.ts';
import { type PageOutcome, waitForPage, writePage } from '../pr-page/write-page.ts';
import { findAnyEntry } from '../queue/find-entry.ts';
import { DONE, type EffectAnswer, type EffectRun, type LongEffect } from './effect-run.ts';

/** A pull request whose base changes is in one queue after the other. The page shows the latest few. */
const MAX_QUEUES = 5;

const slotsOf = memo((_app: App) => new WriteSlots());

/** A long effect, because a slow forge must not occupy a worker that could land something. */
export async function updatePage(run: EffectRun, effect: UpdatePage, id: string): Promise<EffectAnswer | LongEffect> {
  const { hosting } = run.forge;
  if (hosting === undefined) return DONE;
  const { app, repository } = run;
  const slots = slotsOf(app);
  const share = `${repository.host}/${repository.owner}`;
  if (slots.isCrowded(share)) return { kind: 'later', delayMs: CROWDED_MS * (1 + spreadOf(id)) };
  return {
    kind: 'long_running',
    run: async (stop) => {
      const release = await slots.take(share, stop);
      if (release === undefined) return NOT_NOW;
      const written = writeUntilLast(run, { hosting, prNumber: effect.prNumber, id }).finally(release);
      return Promise.race([written, whenStopped(stop, written)]);
    },
  };
}

const NOT_NOW: EffectAnswer = { kind: 'later', delayMs: 0 };

/** A slow forge must not delay the stop of a server: the next server finds in the note what was written. */
function whenStopped(stop: AbortSignal, written: Promise<unknown>): Promise<EffectAnswer> {
  written.catch(() => undefined);
  return new Promise((resolve) => {
    if (stop.aborted) resolve(NOT_NOW);
    else stop.addEventListener('abort', () => resolve(NOT_NOW), { once: true });
  });
}

/** GitHub takes about one write a second: hundreds of effects that came back sooner would occupy the workers. */
const CROWDED_MS = 20_000;

interface PageUpdate {
  readonly hosting: PageWriter;
  readonly prNumber: UpdatePage['prNumber'];
  /** The id of the effect. */
  readonly id: string;
}

// SPEC G145
/** Two queues share the page, and a server that hung may write late. The update that finds this plans it anew. */
async function writeUntilLast(run: EffectRun, update: PageUpdate): Promise<EffectAnswer> {
  let hasLostLease = false;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      const outcome = await updateOnce(run, update, hasLostLease);
      if (outcome === 'written') return DONE;
      if (typeof outcome === 'object') return outcome;
      hasLostLease ||= outcome === 'lost';
    } catch (error) {
      // A rate limit of an hour is no failure: the page is updated when it ends.
      const isLimited = error instanceof Fault && error.code === 'FORGE_UNAVAILABLE' && isKnownNotApplied(error);
      if (!isLimited) throw error;
      return { kind: 'later', delayMs: CROWDED_MS * (1 + spreadOf(update.id)) };
    }
  }
  throw leftToOther();
}

const MAX_TRIES = 5;

/** The update that holds the lease writes again. A fault gives the retry a backoff, so that it ends some time. */
function leftToOther(): Fault {
  return new Fault('FORGE_UNAVAILABLE', 'Another update of the pull request page is under way.');
}

async function updateOnce(
  run: EffectRun,
  { hosting, prNumber, id: effect }: PageUpdate,
  hasLostLease: boolean,
): Promise<EffectAnswer | PageOutcome> {
  const { app, forge } = run;
  const key: NoteKey = { repositoryId: run.found.repositoryId, prNumber };
  const writer = createPairedWriter(hosting);
  const page = { app, hosting, writer, key, repository: run.repository, effect, attempt: randomUUID() };
  // The note is read before the queues, so that another update that wrote a later state has changed it.
  const stored = await recordQueue(app, key, run.found.id);
  if (hasLostLease && stored.note.lease !== undefined) throw leftToOther();
  if (isShown(stored.note, run.found.id, effect)) return DONE;
  const waitMs = await waitForPage(page, stored);
  if (waitMs > 0) return { kind: 'later', delayMs: waitMs };
  // The effect waited for its slot, and the queue may have changed.
  const found = await app.queues.find(run.found.id);
  const repository = found && (await app.directory.findRepositoryById(found.repositoryId));
  const entry = found && (await findAnyEntry(app, found, prNumber));
  if (found === undefined || repository === undefined || entry === undefined) return DONE;
  if (isAboutToChange(found.queue, entry, app.clock.now())) return { kind: 'later', delayMs: ABOUT_TO_CHANGE_MS };
  const views = await collectViews({ app, forge, repository }, stored.note.queues, prNumber);
  const own = views.find(({ loaded }) => loaded.id === found.id);
  const [first, ...others] = views;
  if (first === undefined || own === undefined) return DONE;
  return writePage(page, stored, { views: [first, ...others], own });
}

// SPEC G141
function isShown({ shown, lease, unansweredAt }: Note, queueId: QueueId, effect: string): boolean {
  const isKnown = lease === undefined && unansweredAt === undefined;
  return isKnown && shown?.queueId === queueId && shown.version >= versionOfEffect({ id: effect });
}

/** The queue that wrote last comes first. */
async function recordQueue(app: App, key: NoteKey, queueId: QueueId): Promise<StoredNote> {
  await changeNote(app, key, ({ queues, ...rest }) =>
    queues[0] === queueId
      ? undefined
      : { ...rest, queues: [queueId, ...queues.filter((each) => each !== queueId)].slice(0, MAX_QUEUES) },
  );
  return findNote(app, key);
}

/** It lands, or its mergeability or commit is being made: one write a moment later replaces two. */
function isAboutToChange(queue: Queue, entry: Entry, now: Instant): boolean {
  if (entry.state === 'TESTS_PASSED' && now - entry.stateChangedAt < PASSED_MS) return true;
  const { landing } = queue;
  if (entry.state === 'TESTS_PASSED' && landing !== undefined && now - landing.since < LANDING_MS) {
    const candidate = findCandidate(queue, landing.candidate);
    return (
      candidate !== undefined && compositionOf(candidate).some(({ submission }) => submission === entry.submission)
    );
  }
  const building = ownRunOf(queue, entry);
  if (building?.state === 'building') {
    const hadToWait = building.plannedAt - entry.submittedAt > BEGINNING_MS;
    if (now - building.plannedAt < (hadToWait ? BUILDING_MS : BEGINNING_MS)) return true;
  }
  const { mergeability } = entry.pr;
  const isOpen = mergeability === 'IN_PROGRESS' || mergeability === 'UNSPECIFIED';
  const isNext = queue.state === 'RUNNING' && freeSlots(queue) > 0;
  const isBeginning = (entry.state === 'NOT_READY' && isOpen) || (entry.state === 'PENDING' && isNext);
  return isBeginning && now - entry.submittedAt < BEGINNING_MS;
}

const ABOUT_TO_CHANGE_MS = 1_000;
const LANDING_MS = 30_000;
/** A person who submitted it looks for an answer. */
const BEGINNING_MS = 6_000;
/** Until the commit is built, the comment says of an entry that had to wait that it is queued. */
const BUILDING_MS = 30_000;
/** Entries ahead usually land first. One that waits for longer gets an update. */
const PASSED_MS = 30_000;

// SPEC G141
/** Live entries first, then the latest change: the same order for the effects of every queue. */
async function collectViews(place: PageHost, queueIds: readonly QueueId[], prNumber: UpdatePage['prNumber']) {
  const views = [];
  for (const queueId of queueIds) {
    const loaded = await place.app.queues.find(queueId);
    const entry = loaded?.queue.hasPages === true ? await findAnyEntry(place.app, loaded, prNumber) : undefined;
    if (loaded === undefined || entry === undefined) continue;
    views.push({ loaded, entry, facts: await collectPageFacts(place, loaded, entry) });
  }
  const rank = ({ state }: Entry) => (isLive(state) ? 1 : 0);
  return views.toSorted(
    (a, b) =>
      rank(b.entry) - rank(a.entry) ||
      b.entry.stateChangedAt - a.entry.stateChangedAt ||
      (a.loaded.queue.branch < b.loaded.queue.branch ? -1 : 1),
  );
}

/** A batch is written at once. More parallel writes would only make the forge throttle us. */
const AT_ONCE = 8;
/** When this many writes wait, further effects wait in the store. */
const MAX_WAITING = 100;

/** Limits the writes in parallel for each owner at a forge: a slow owner does not hold up the others. */
class WriteSlots {
  readonly #owners = new Map<string, Semaphore>();

  isCrowded(owner: string): boolean {
    return (this.#owners.get(owner)?.waiting ?? 0) >= MAX_WAITING;
  }

  /** Resolves to a function that releases the slot. Undefined: `stop` came first. */
  async take(owner: string, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return undefined;
    const slots = this.#owners.get(owner) ?? new Semaphore(AT_ONCE);
    this.#owners.set(owner, slots);
    const release = await slots.take(undefined, stop);
    if (release === undefined) return undefined;
    return () => {
      release();
      if (slots.isIdle) this.#owners.delete(owner);
    };
  }
}
