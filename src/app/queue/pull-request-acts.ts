import { findEntry } from '../../engine/queue.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type EntryRef, findQueue } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { runEvent } from '../core/run-event.ts';
import { type EntryView, viewEntry } from './entry-view.ts';
import { findEndedEntry, neverSubmitted } from './find-entry.ts';

export async function cancelPullRequest(app: App, caller: Caller, input: EntryRef): Answer<EntryView> {
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
    const entry = findEntry(result.queue, prNumber) ?? result.ended.find((ended) => ended.prNumber === prNumber);
    return entry === undefined ? neverSubmitted(input) : viewEntry(found.id, result.queue, entry);
  }
  if (result.code !== 'PULL_REQUEST_NOT_IN_QUEUE') return result;
  const ended = await findEndedEntry(app, found, prNumber);
  if (ended === undefined) return neverSubmitted(input);
  // Cancelling twice is not an error.
  if (ended.state === 'CANCELLED') return viewEntry(found.id, found.queue, ended);
  return refuse('PULL_REQUEST_NOT_IN_QUEUE', `Pull request #${prNumber} already left the queue: it is ${ended.state}.`);
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
