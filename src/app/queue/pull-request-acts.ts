import { type Entry, findEntry, isLanding, type Queue } from '../../engine/model/queue.ts';
import { pause } from '../../lib/clock.ts';
import { shortSha } from '../../words/phrases.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type EntryRef, type FoundQueue, findQueue, runEvent } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { type EntryView, viewEntry } from './entry-view.ts';
import { findEndedEntry, neverSubmitted } from './find-entry.ts';

/** A landing is waited for no longer than this. */
const LANDING_MS = 15_000;
const LOOK_EVERY_MS = 200;

// SPEC E6, E38
export async function cancelPullRequest(
  app: App,
  caller: Caller,
  input: EntryRef,
  { waits = false }: { readonly waits?: boolean } = {},
): Answer<EntryView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { prNumber } = input;
  const result = await runEvent(app, found, () => ({
    kind: 'pull_request_cancelled',
    at: app.clock.now(),
    actor: caller.name,
    prNumber,
  }));
  if (!isRefusal(result)) {
    const landing = findEntry(result.queue, prNumber);
    if (landing !== undefined)
      return waits ? afterLanding(app, found, landing) : viewAsked(found, result.queue, landing);
    const ended = result.ended.find((entry) => entry.prNumber === prNumber);
    return ended === undefined ? neverSubmitted(input) : viewEntry(found.id, result.queue, ended);
  }
  if (result.code !== 'PULL_REQUEST_NOT_IN_QUEUE') return result;
  const ended = await findEndedEntry(app, found, prNumber);
  if (ended === undefined) return neverSubmitted(input);
  // Cancelling twice is not an error.
  if (ended.state === 'CANCELLED')
    return { ...viewEntry(found.id, found.queue, ended), note: `Pull request #${prNumber} was cancelled already.` };
  return refuse('PULL_REQUEST_NOT_IN_QUEUE', `Pull request #${prNumber} already left the queue: it is ${ended.state}.`);
}

async function afterLanding(app: App, found: FoundQueue, { prNumber, submission }: Entry): Answer<EntryView> {
  const until = app.clock.now() + LANDING_MS;
  for (;;) {
    const queue = (await app.queues.find(found.id))?.queue ?? found.queue;
    const entry = findEntry(queue, prNumber);
    if (entry?.submission !== submission || !isLanding(queue, entry)) break;
    if (app.clock.now() >= until) return viewAsked(found, queue, entry);
    await pause(app.clock, LOOK_EVERY_MS);
  }
  const ended = await findEndedEntry(app, found, prNumber);
  if (ended?.state === 'CANCELLED') return viewEntry(found.id, found.queue, ended);
  const as = ended?.landed === undefined ? '' : ` as ${shortSha(ended.landed.sha)}`;
  return refuse('PULL_REQUEST_NOT_IN_QUEUE', `Too late: pull request #${prNumber} landed${as}.`);
}

function viewAsked({ id }: FoundQueue, queue: Queue, entry: Entry): EntryView {
  const note = `Pull request #${entry.prNumber} is being landed. It leaves the queue unless it lands.`;
  return { ...viewEntry(id, queue, entry), note };
}

export async function restartTestsOnPullRequest(app: App, caller: Caller, input: EntryRef): Answer<EntryView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { prNumber } = input;
  const result = await runEvent(app, found, () => ({
    kind: 'tests_restart_requested',
    at: app.clock.now(),
    actor: caller.name,
    prNumber,
    ...(caller.isPerson ? { by: 'person' as const } : {}),
  }));
  if (!isRefusal(result)) {
    const entry = findEntry(result.queue, prNumber);
    return entry === undefined ? neverSubmitted(input) : viewEntry(found.id, result.queue, entry);
  }
  if (result.code !== 'PULL_REQUEST_NOT_IN_QUEUE') return result;
  const ended = await findEndedEntry(app, found, prNumber);
  return ended === undefined ? neverSubmitted(input) : result;
}
