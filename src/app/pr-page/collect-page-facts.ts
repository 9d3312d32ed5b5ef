import { testingEndsAt } from '../../engine/evidence/judge.ts';
import { isSilent } from '../../engine/line/silence.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { type Entry, isLive, type Queue } from '../../engine/model/queue.ts';
import { unlanded } from '../../engine/model/roster.ts';
import { entriesAbove } from '../../engine/model/stack.ts';
import type { Forge } from '../../forge/forge.ts';
import type { Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import { explain } from '../../words/explain.ts';
import type { Explanation, ExplanationReason, FailedCheck } from '../../words/explanation.ts';
import { unforeseeableText } from '../../words/forecast.ts';
import { type Headline, headlineOf } from '../../words/headlines.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { findPageLink } from '../core/page-link.ts';
import { decodeTransition, type StoredTransition } from '../core/queue-codec.ts';
import { collectBeyond, findRun, testBranchOf } from '../queue/entry-run.ts';
import { safeAddress } from './markdown.ts';

export interface PageFacts {
  readonly branch: string;
  readonly entry: Entry;
  readonly explanation: Explanation;
  /** The pull requests in the queue that are built on it, directly. */
  readonly above: readonly PrNumber[];
  readonly headline: Headline;
  readonly admitted: number;
  /** Why it is tested again. */
  readonly retestReason: TimelineSentence | undefined;
  readonly submittedBy: string | undefined;
  readonly run: RunFacts | undefined;
  /** Pull requests that a text may link to. */
  readonly linkable: ReadonlySet<number>;
  /** The address of the repository's page. */
  readonly page: string | undefined;
  readonly dashboard: string | undefined;
  readonly howToSubmit: HowToSubmit;
  /** When it lands, if that can be said. */
  readonly forecast: { readonly landsAtP50: Instant; readonly landsAtP95: Instant } | undefined;
}

export interface TimelineSentence {
  readonly text: string;
  readonly actor?: string | undefined;
}

export interface HowToSubmit {
  readonly hasCommands: boolean;
  readonly label: string | undefined;
}

/** The present candidate, or the last one. */
export interface RunFacts {
  readonly id: string;
  readonly branch: string;
  readonly sha: Sha | undefined;
  readonly isBisection: boolean;
  /** The candidate also has a draft pull request. */
  readonly hasDraft: boolean;
  /** Pull requests that are tested together, with this one. */
  readonly members: readonly PrNumber[];
  readonly beneath: readonly PrNumber[];
  readonly required: readonly string[];
  /** Set when the required checks have reported nothing for long. */
  readonly silentSince: Instant | undefined;
  /** Checks that CI reported and that are not required. */
  readonly heard: readonly string[];
  /** Checks that have not reported by then count as failed. Undefined: no limit, or already over. */
  readonly endsAt: Instant | undefined;
  /** The candidate in which the same tree passed before, so that this one did not run. */
  readonly provenBy: string | undefined;
  /** Required checks that failed, also waived ones. */
  readonly failed: readonly FailedCheck[];
}

/** The forge and repository that have the pull request's page. */
export interface PageHost {
  readonly app: App;
  readonly forge: Forge;
  readonly repository: Repository;
}

export async function collectPageFacts(place: PageHost, loaded: LoadedQueue, entry: Entry): Promise<PageFacts> {
  const { app } = place;
  const { queue } = loaded;
  const candidate = await findRun(app, loaded, entry);
  const beyond = await collectBeyond(app, { ...loaded, repository: place.repository }, entry);
  const explanation = explain(queue, entry, app.clock.now(), beyond);
  const timeline = await app.store.queueRecords.listTransitions(entry.id);
  const setback = findSetback(timeline);
  const submitted = timeline.find(({ to }) => to === 'NOT_READY');
  const run = candidate && describeRun(place, loaded, candidate, beyond.failed ?? []);
  const { commandsEnabled, labelCommandsEnabled, enqueueingLabel } = queue.settings;
  const below = (entry.pr.below ?? []).map(({ number }) => number);
  return {
    branch: queue.branch,
    entry,
    explanation,
    above: entriesAbove(queue, entry.prNumber).map(({ prNumber }) => prNumber),
    admitted: queue.index.admitted,
    headline: headlineOf(queue, entry),
    retestReason: isOld(setback, queue, entry) ? undefined : setback,
    submittedBy: submitted && decodeTransition(submitted).actor,
    run,
    linkable: collectLinkable(queue, entry, {
      reasons: explanation.reasons,
      run,
      causes: [setback?.prNumber, ...(entry.because.onTopOf ?? []), ...below],
    }),
    page: pageOf(entry),
    dashboard: await findPageLink(app, {
      repository: place.repository,
      branch: queue.branch,
      prNumber: entry.prNumber,
    }),
    howToSubmit: { hasCommands: commandsEnabled, label: labelCommandsEnabled ? enqueueingLabel : undefined },
    forecast: isLive(entry.state) ? forecastOf(app, loaded, entry) : undefined,
  };
}

function forecastOf(app: App, loaded: LoadedQueue, { prNumber }: Entry): PageFacts['forecast'] {
  if (unforeseeableText(loaded.queue) !== undefined) return undefined;
  const { landsAtP50, landsAtP95 } = app.forecasts.find(loaded)?.entries.get(prNumber) ?? {};
  return landsAtP50 === undefined || landsAtP95 === undefined ? undefined : { landsAtP50, landsAtP95 };
}

/** The conflict with a pull request ahead is no news once it is under test again. The hold itself tells more. */
function isOld(setback: StoredTransition | undefined, { hold }: Queue, { state }: Entry): boolean {
  if (setback?.reason === 'TARGET_BRANCH_RED') return hold !== undefined;
  return setback?.reason === 'CONFLICTS_WITH_PREREQUISITE' && state === 'TESTING';
}

/** The last setback since the submission. */
function findSetback(timeline: readonly TransitionRow[]): StoredTransition | undefined {
  const last = timeline.find(({ to }) => to === 'PENDING' || to === 'NOT_READY');
  if (last?.to !== 'PENDING') return undefined;
  const setback = decodeTransition(last);
  return setback.reason === 'MERGE_ITEM_NOW_READY' ? undefined : setback;
}

function describeRun(
  place: PageHost,
  loaded: LoadedQueue,
  candidate: Candidate,
  failed: readonly FailedCheck[],
): RunFacts {
  const { id, queue } = loaded;
  const isBisection = candidate.purpose.kind === 'bisection';
  const beneath = candidate.endedAt === undefined ? unlanded(queue, candidate.beneath) : candidate.beneath;
  const { pass, checks } = candidate;
  const required = candidate.required?.names ?? [];
  return {
    id: candidateIdOf(id, candidate.number),
    branch: testBranchOf(place.forge, loaded, candidate),
    sha: candidate.commit?.sha,
    isBisection,
    hasDraft: queue.settings.createPrsForTestingBranches,
    members: candidate.members.map(({ prNumber }) => prNumber),
    beneath: beneath.map(({ prNumber }) => prNumber),
    required,
    heard: checks.map(({ name }) => name).filter((name) => !required.includes(name)),
    silentSince: isSilent(candidate, place.app.clock.now()) ? candidate.testingSince : undefined,
    endsAt: testingEndsAt(queue, candidate),
    provenBy: pass?.by === 'reused_run' ? candidateIdOf(id, pass.provenBy) : undefined,
    failed,
  };
}

interface Related {
  readonly reasons: readonly ExplanationReason[];
  readonly run: RunFacts | undefined;
  readonly causes: readonly (number | undefined)[];
}

/** The entries of the queue and every pull request related to this one. */
function collectLinkable(queue: Queue, entry: Entry, { reasons, run, causes }: Related): ReadonlySet<number> {
  const ours = new Set<number>([entry.prNumber]);
  for (const { prNumber } of valuesOf(queue.entries)) ours.add(prNumber);
  for (const cause of [entry.because.prNumber, ...causes]) if (cause !== undefined) ours.add(cause);
  for (const number of [...(run?.members ?? []), ...(run?.beneath ?? [])]) ours.add(number);
  for (const number of entry.landed?.composedWith ?? []) ours.add(number);
  const addAll = (list: readonly ExplanationReason[]) => {
    for (const { prNumber, reasons: inner } of list) {
      if (prNumber !== undefined) ours.add(prNumber);
      addAll(inner);
    }
  };
  addAll(reasons);
  return ours;
}

/** The address of a pull request ends with its number; before that is the repository's page. */
function pageOf({ pr }: Entry): string | undefined {
  const [, page] = /^(https?:\/\/.+)\/pull\/\d+$/.exec(pr.url) ?? [];
  return page !== undefined && safeAddress(page) !== undefined ? page : undefined;
}
