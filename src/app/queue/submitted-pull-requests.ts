import { setImmediate as otherRequests } from 'node:timers/promises';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as pullRequestsContract from '../../contract/pull-requests.ts';
import { type Entry, findEntry, isLive } from '../../engine/model/queue.ts';
import { entriesAbove } from '../../engine/model/stack.ts';
import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Beyond } from '../../words/explanation.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue } from '../core/find-queue.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import { type Answer, isRefusal, refuseField } from '../core/refusal.ts';
import { viewResult } from './entry-result.ts';
import { collectBeyond } from './entry-run.ts';
import {
  type EntryView,
  type ExplanationView,
  type ListEntryView,
  viewEntry,
  viewExplanation,
  viewListEntry,
  viewTimeline,
} from './entry-view.ts';
import { explainTrouble } from './explain-trouble.ts';
import { findAnyEntries, findEndedEntry, neverSubmitted } from './find-entry.ts';
import { findByBranch } from './find-pull-request.ts';
import { addForecasts, viewForecast } from './forecast-view.ts';
import { answerAt } from './past.ts';

type GetSubmittedPullRequest = RequestOf<typeof pullRequestsContract.getSubmittedPullRequest>;
type EntryDetail = Pick<
  GetSubmittedPullRequest,
  'includeTimeline' | 'includeExplanation' | 'includeForecast' | 'includeResult' | 'at'
>;

export function getSubmittedPullRequest(app: App, caller: Caller, input: GetSubmittedPullRequest): Answer<EntryView> {
  const { number, branch = '' } = input.pr;
  const describe = async (then: App, found: FoundQueue): Answer<EntryView> => {
    const prNumber = number ?? (await findByBranch(app, found, branch));
    if (isRefusal(prNumber)) return prNumber;
    const entry = findEntry(found.queue, prNumber) ?? (await findEndedEntry(then, found, prNumber));
    return entry === undefined ? neverSubmitted({ ...input, prNumber }) : describeEntry(then, found, entry, input);
  };
  return answerAt(app, caller, input, { prNumber: number, describe });
}

export async function getSubmittedPullRequests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof pullRequestsContract.getSubmittedPullRequests>,
): Answer<ReplyOf<typeof pullRequestsContract.getSubmittedPullRequests>> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const prNumbers = [...new Set(input.prs.map(({ number }) => number))];
  const entries = await findAnyEntries(app, found, prNumbers);
  const pullRequests: EntryView[] = [];
  for (const prNumber of prNumbers) {
    const entry = entries.get(prNumber);
    if (entry !== undefined) pullRequests.push(await describeEntry(app, found, entry, input));
  }
  return { pullRequests, notFound: prNumbers.filter((prNumber) => !entries.has(prNumber)) };
}

/** Most ask for no detail, and get the cached view at once. */
function describeEntry(app: App, found: FoundQueue, entry: Entry, detail: EntryDetail): EntryView | Promise<EntryView> {
  const includeForecast = detail.includeForecast === true && detail.at === undefined && isLive(entry.state);
  if (detail.includeTimeline || detail.includeExplanation || detail.includeResult || includeForecast) {
    return detailEntry(app, found, entry, { ...detail, includeForecast });
  }
  return viewEntry(found.id, found.queue, entry);
}

async function detailEntry(app: App, found: FoundQueue, entry: Entry, detail: EntryDetail): Promise<EntryView> {
  const { includeForecast, includeTimeline, includeExplanation, includeResult } = detail;
  const rows = includeTimeline ? await app.store.queueRecords.listTransitions(entry.id) : undefined;
  const now = app.clock.now();
  const above = entriesAbove(found.queue, entry.prNumber).map(({ prNumber }) => prNumber);
  const beyond = includeExplanation || includeResult ? await collectBeyond(app, found, entry) : {};
  return {
    ...viewEntry(found.id, found.queue, entry),
    ...present({
      dependents: above.length > 0 ? above : undefined,
      forecast: includeForecast ? viewForecast(app, found, now, entry) : undefined,
      timeline: rows && viewTimeline(rows),
      explanation: includeExplanation ? await explainEntry(app, found, entry, { now, beyond }) : undefined,
      result: includeResult ? await viewResult({ app, found, entry, beyond, now }) : undefined,
    }),
  };
}

async function explainEntry(
  app: App,
  found: FoundQueue,
  entry: Entry,
  known: { readonly now: Instant; readonly beyond: Beyond },
): Promise<ExplanationView> {
  return viewExplanation(found, entry, { ...known, trouble: await explainTrouble(app, found, entry) });
}

/** Entries of a list. One after another, so that a long list holds up nobody else. */
// SPEC E31
export async function explainListed(
  app: App,
  found: FoundQueue,
  entries: readonly Entry[],
): Promise<readonly ListEntryView[]> {
  const views: ListEntryView[] = [];
  // At one instant, so that they share what is derived from the queue.
  const now = app.clock.now();
  for (const entry of entries) {
    // An explanation in a long queue takes milliseconds, and the embedded store answers without a pause.
    await otherRequests();
    const beyond = await collectBeyond(app, found, entry);
    views.push({ ...viewListEntry(entry), explanation: await explainEntry(app, found, entry, { now, beyond }) });
  }
  return views;
}

export async function listPullRequests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof pullRequestsContract.listPullRequests>,
): Answer<ReplyOf<typeof pullRequestsContract.listPullRequests>> {
  const { since, until, state, cursor, take = 50 } = input;
  if (since !== undefined && until !== undefined && since > until) {
    return refuseField('/since', 'must not be later than until');
  }
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const rows = await app.store.queueRecords.listEntries({
    queueId: found.id,
    ...present({ state, concludedFrom: since, concludedUntil: until, afterId: cursor }),
    limit: take + 1,
  });
  const entries = rows.slice(0, take).map(decodeShownEntry);
  const views = input.includeExplanation
    ? await explainListed(
        app,
        found,
        entries.map((entry) => findEntry(found.queue, entry.prNumber) ?? entry),
      )
    : entries.map(viewListEntry);
  return {
    pullRequests: input.includeForecast ? addForecasts(app, found, views) : views,
    ...present({ nextCursor: rows.length > take ? entries.at(-1)?.id : undefined }),
  };
}
