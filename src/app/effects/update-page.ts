import { randomUUID } from 'node:crypto';
import { compositionOf } from '../../engine/candidate.ts';
import type { UpdatePage } from '../../engine/effect.ts';
import { type Entry, findCandidate, findEntry, isLive, type Queue } from '../../engine/queue.ts';
import type { Hosting } from '../../forge/hosting.ts';
import { isKnownNotApplied } from '../../forge/known-not-applied.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { spreadOf } from '../core/leases.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import { closeLandedPullRequest } from '../pr-page/close-landed.ts';
import { collectPageFacts } from '../pr-page/collect-page-facts.ts';
import { ConcurrentWrite, leftToOther } from '../pr-page/concurrent-write.ts';
import { changeNote, type NoteKey } from '../pr-page/note.ts';
import { createPairedWriter } from '../pr-page/paired-writer.ts';
import type { PageHost } from '../pr-page/place.ts';
import { RetryAfter } from '../pr-page/retry-after.ts';
import { writeCheckRun } from '../pr-page/write-check-run.ts';
import { writeComment } from '../pr-page/write-comment.ts';
import { writeLabels } from '../pr-page/write-labels.ts';
import { WriteSlots } from '../pr-page/write-slots.ts';
import { DONE, type EffectAnswer, type EffectRun, type LongEffect } from './effect-run.ts';

/** A pull request is in one queue after the other when its base changes; nobody reads of more. */
const MAX_QUEUES = 5;

const writeSlots = new WeakMap<App, WriteSlots>();

/**
 * Says at the forge how a pull request stands now: what differs from what was said last, and nothing else. A forge that
 * lets us wait keeps no hand busy that could land something.
 */
export async function updatePage(run: EffectRun, effect: UpdatePage, id: string): Promise<EffectAnswer | LongEffect> {
  const { hosting } = run.forge;
  if (hosting === undefined) return DONE;
  const { app, repository } = run;
  const ours = writeSlots.get(app) ?? new WriteSlots();
  writeSlots.set(app, ours);
  const share = `${repository.host}/${repository.owner}`;
  if (ours.isCrowded(share)) return { kind: 'later', delayMs: CROWDED_MS * (1 + spreadOf(id)) };
  return {
    kind: 'long_running',
    run: async (stop) => {
      const giveBack = await ours.take(share, stop);
      if (giveBack === undefined) return NOT_NOW;
      const said = writeUntilLast(run, { hosting, prNumber: effect.prNumber, id }).finally(giveBack);
      return Promise.race([said, whenStopped(stop, said)]);
    },
  };
}

const NOT_NOW: EffectAnswer = { kind: 'later', delayMs: 0 };

/** A forge that is slow does not keep a server from stopping: whoever goes on finds what was said. */
function whenStopped(stop: AbortSignal, said: Promise<unknown>): Promise<EffectAnswer> {
  said.catch(() => undefined);
  return new Promise((resolve) => {
    if (stop.aborted) resolve(NOT_NOW);
    else stop.addEventListener('abort', () => resolve(NOT_NOW), { once: true });
  });
}

/**
 * A forge takes one act a second: those that wait already take minutes. Hundreds that came back every second or two would
 * keep everything else, also what lands, waiting for its turn.
 */
const CROWDED_MS = 20_000;

interface PageUpdate {
  readonly hosting: Hosting;
  readonly prNumber: UpdatePage['prNumber'];
  /** The effect's own. */
  readonly id: string;
}

/**
 * Two may talk at once: one that was taken for dead, or one for another queue. Whoever finds that another spoke meanwhile
 * says it once more, with what is true by then: the last word is the latest.
 */
async function writeUntilLast(run: EffectRun, speech: PageUpdate): Promise<EffectAnswer> {
  for (let overtaken = 0; overtaken < MAX_CONCURRENT_WRITES; overtaken += 1) {
    try {
      return await writePage(run, speech);
    } catch (error) {
      if (isLimited(error)) return { kind: 'later', delayMs: CROWDED_MS * (1 + spreadOf(speech.id)) };
      if (!(error instanceof ConcurrentWrite)) throw error;
    }
  }
  throw leftToOther();
}

/** A forge that takes nothing more for an hour is no failure: who landed meanwhile is told so then. */
function isLimited(error: unknown): boolean {
  return error instanceof Fault && error.code === 'FORGE_UNAVAILABLE' && isKnownNotApplied(error);
}

const MAX_CONCURRENT_WRITES = 5;

async function writePage(run: EffectRun, { hosting, prNumber, id }: PageUpdate): Promise<EffectAnswer> {
  const { app, forge, repository: at } = run;
  // It waited for its turn: the queue may have gone on.
  const found = await app.queues.find(run.found.id);
  if (found === undefined) return DONE;
  const repository = await app.directory.findRepositoryById(found.repositoryId);
  if (repository === undefined) return DONE;
  const place: PageHost = { app, forge, repository };
  const key: NoteKey = { repositoryId: repository.id, prNumber };
  const note = await changeNote(app, key, ({ queues, ...rest }) =>
    queues[0] === found.id
      ? undefined
      : { ...rest, queues: [found.id, ...queues.filter((each) => each !== found.id)].slice(0, MAX_QUEUES) },
  );
  const entry = await findAny(app, found, prNumber);
  if (entry === undefined) return DONE;
  if (isAboutToChange(found.queue, entry, app.clock.now())) return { kind: 'later', delayMs: ABOUT_TO_CHANGE_MS };
  const views = await collectViews(place, note.queues, prNumber);
  const own = views.find(({ loaded }) => loaded.id === found.id);
  const [first] = views;
  if (first === undefined || own === undefined) return DONE;
  const writer = createPairedWriter(hosting);
  const talk = { app, hosting, writer, key, repository: at, id, turn: randomUUID() };
  const comment = writeComment(talk, views).finally(() => writer.skip('comment'));
  const check = writeCheckRun(talk, own).finally(() => writer.skip('check'));
  await Promise.allSettled([comment, check]);
  return inTurn([() => comment, () => check, () => writeLabels(talk, first), () => closeLandedPullRequest(talk, own)]);
}

/** It lands right now, or the forge is still finding out whether it can be merged: in a moment there is more to say. */
function isAboutToChange(queue: Queue, entry: Entry, now: Instant): boolean {
  if (entry.state === 'TESTS_PASSED' && now - entry.stateChangedAt < PASSED_MS) return true;
  const { landing } = queue;
  if (entry.state === 'TESTS_PASSED' && landing !== undefined && now - landing.since < LANDING_MS) {
    const candidate = findCandidate(queue, landing.candidate);
    return (
      candidate !== undefined && compositionOf(candidate).some(({ submission }) => submission === entry.submission)
    );
  }
  const { mergeability } = entry.pr;
  const isOpen = mergeability === 'IN_PROGRESS' || mergeability === 'UNSPECIFIED';
  return entry.state === 'NOT_READY' && isOpen && now - entry.submittedAt < FINDING_OUT_MS;
}

const ABOUT_TO_CHANGE_MS = 1_000;
const LANDING_MS = 30_000;
const FINDING_OUT_MS = 6_000;
/** Those ahead of it are about to land, as a rule; one that waits for longer is worth a word. */
const PASSED_MS = 30_000;

/** What one of them cannot do keeps none of the others from being done. */
async function inTurn(acts: readonly (() => Promise<void>)[]): Promise<EffectAnswer> {
  let failure: { readonly error: unknown } | undefined;
  let overtaken: ConcurrentWrite | undefined;
  let laterMs: number | undefined;
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      if (error instanceof RetryAfter) laterMs = Math.max(laterMs ?? 0, error.delayMs);
      else if (error instanceof ConcurrentWrite) overtaken = error;
      else failure ??= { error };
    }
  }
  // What failed is not tried again at once, also where the rest could be.
  if (failure !== undefined) throw failure.error;
  if (overtaken !== undefined) throw overtaken;
  return laterMs === undefined ? DONE : { kind: 'later', delayMs: laterMs };
}

/** Live ones first, then those that changed last: the same for whoever of them tells. */
async function collectViews(place: PageHost, queueIds: readonly QueueId[], prNumber: UpdatePage['prNumber']) {
  const views = [];
  for (const queueId of queueIds) {
    const loaded = await place.app.queues.find(queueId);
    const entry = loaded?.queue.hasPages === true ? await findAny(place.app, loaded, prNumber) : undefined;
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

async function findAny(
  app: App,
  { id, queue }: LoadedQueue,
  prNumber: UpdatePage['prNumber'],
): Promise<Entry | undefined> {
  const live = findEntry(queue, prNumber);
  if (live !== undefined) return live;
  const row = await app.store.queues.findEntry(id, prNumber);
  return row === undefined ? undefined : decodeShownEntry(row);
}
