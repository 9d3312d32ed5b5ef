import type { Candidate } from '../../engine/candidate.ts';
import { verdictOfCheck } from '../../engine/check.ts';
import { explain } from '../../engine/explain.ts';
import type { ExplanationReason } from '../../engine/explanation.ts';
import { isWaived } from '../../engine/judgement.ts';
import { type Entry, findCandidate, isLive, type Queue } from '../../engine/queue.ts';
import { unlanded } from '../../engine/roster.ts';
import { isSilent } from '../../engine/silence.ts';
import { testingEndsAt } from '../../engine/verdict.ts';
import type { Forge } from '../../forge/forge.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeCandidate, decodeTransition, type StoredTransition } from '../core/queue-codec.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import { testLink } from '../tests/test-view.ts';
import { safeAddress } from './markdown.ts';
import type { FailedCheck, FailedTestFacts, PageFacts, RunFacts } from './page-facts.ts';

/** The forge and repository that have the pull request's page. */
export interface PageHost {
  readonly app: App;
  readonly forge: Forge;
  readonly repository: Repository;
}

/** A comment shows fewer. */
const MAX_TESTS = 100;

const ORDER: readonly FailedTestFacts['kind'][] = ['failed', 'broken', 'flaky', 'quarantined'];

/** Collects everything that the page shows about an entry, live or ended. */
export async function collectPageFacts(place: PageHost, loaded: LoadedQueue, entry: Entry): Promise<PageFacts> {
  const { app } = place;
  const { queue } = loaded;
  const candidate = await findRun(app, loaded, entry);
  const explanation = explain(queue, entry, app.clock.now(), isLive(entry.state) ? undefined : candidate);
  const timeline = await app.store.queues.listTransitions(entry.id);
  const latest = timeline[0] && decodeTransition(timeline[0]);
  const setback = findSetback(timeline);
  const submitted = timeline.find(({ to }) => to === 'NOT_READY');
  const run = candidate && (await describeRun(place, loaded, candidate));
  const { commandsEnabled, labelCommandsEnabled, enqueueingLabel } = queue.settings;
  return {
    branch: queue.branch,
    entry,
    explanation,
    admitted: queue.index.admitted,
    // The timeline may be a step ahead of the queue that was read.
    latest: timeline[0]?.to === entry.state ? latest : undefined,
    retestReason: setback,
    submittedBy: submitted && decodeTransition(submitted).actor,
    run,
    linkable: collectLinkable(queue, entry, {
      reasons: explanation.reasons,
      run,
      causes: [latest?.prNumber, setback?.prNumber],
    }),
    page: pageOf(entry),
    howToSubmit: { hasCommands: commandsEnabled, label: labelCommandsEnabled ? enqueueingLabel : undefined },
  };
}

/** The last setback since the submission. */
function findSetback(timeline: readonly TransitionRow[]): StoredTransition | undefined {
  const last = timeline.find(({ to }) => to === 'PENDING' || to === 'NOT_READY');
  if (last?.to !== 'PENDING') return undefined;
  const setback = decodeTransition(last);
  return setback.reason === 'MERGE_ITEM_NOW_READY' ? undefined : setback;
}

/** The candidate that tests the entry now, or that decided it. */
async function findRun(app: App, { id, queue }: LoadedQueue, entry: Entry): Promise<Candidate | undefined> {
  const number = entry.landed?.candidate ?? entry.candidate ?? bisectionRunOf(queue, entry) ?? entry.because.candidate;
  if (number === undefined) return undefined;
  const live = findCandidate(queue, number);
  const row = live === undefined ? await app.store.queues.findCandidate(id, number) : undefined;
  const candidate = live ?? (row && decodeCandidate(row));
  return candidate?.purpose.kind === 'direct' ? undefined : candidate;
}

function bisectionRunOf({ bisections }: Queue, entry: Entry): Candidate['number'] | undefined {
  const bisection = bisections.find(({ number }) => number === entry.bisection);
  const parts = bisection?.chains.flatMap((chain) => chain.parts) ?? [];
  return parts.find(({ members }) => members.some(({ submission }) => submission === entry.submission))?.candidate;
}

async function describeRun(place: PageHost, { id, queue }: LoadedQueue, candidate: Candidate): Promise<RunFacts> {
  const candidateId = candidateIdOf(id, candidate.number);
  const isBisection = candidate.purpose.kind === 'bisection';
  const beneath = candidate.endedAt === undefined ? unlanded(queue, candidate.beneath) : candidate.beneath;
  const { pass } = candidate;
  return {
    id: candidateId,
    branch: place.forge.testBranchOf({ candidateId, prNumber: candidate.members[0]?.prNumber, isBisection }),
    sha: candidate.commit?.sha,
    isBisection,
    hasDraft: queue.settings.createPrsForTestingBranches,
    members: candidate.members.map(({ prNumber }) => prNumber),
    beneath: beneath.map(({ prNumber }) => prNumber),
    required: candidate.required?.names ?? [],
    silentSince: isSilent(candidate, place.app.clock.now()) ? candidate.testingSince : undefined,
    endsAt: testingEndsAt(queue, candidate),
    provenBy: pass?.by === 'reused_run' ? candidateIdOf(id, pass.provenBy) : undefined,
    failed: await collectFailures(place, candidate, candidateId),
  };
}

/** More are neither read nor shown. */
const MAX_FAILED = 25;

async function collectFailures(place: PageHost, candidate: Candidate, candidateId: string): Promise<FailedCheck[]> {
  const blamed = new Set(candidate.failure?.checks);
  const failed = (candidate.required?.names ?? []).flatMap((name) => {
    const check = candidate.checks.find((each) => each.name === name);
    const isFailed = verdictOfCheck(check) === 'failed' || (check !== undefined && isWaived(check));
    return isFailed || blamed.has(name) ? [{ name, check }] : [];
  });
  const facts: FailedCheck[] = [];
  for (const [index, { name, check }] of failed.entries()) {
    const tests = index < MAX_FAILED ? await collectFailedTests(place, candidateId, name) : { tests: [], failing: 0 };
    facts.push({
      name,
      conclusion: check?.status === 'COMPLETED' ? check.conclusion : undefined,
      hasBegun: check !== undefined,
      url: check?.url,
      summary: check?.summary,
      isWaived: check !== undefined && isWaived(check),
      ...tests,
    });
  }
  return facts;
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

/** The failed tests of a candidate's check, as uploaded, the most important first. */
async function collectFailedTests(
  { app, repository }: PageHost,
  candidateId: string,
  check: string,
): Promise<Pick<FailedCheck, 'tests' | 'failing'>> {
  const results = await app.store.testIngest.findCheckResults(repository.id, candidateId, check);
  const failing = results?.failing.length ?? 0;
  if (results === undefined || failing === 0) return { tests: [], failing };
  const ids = results.failing.slice(0, MAX_TESTS).map(({ testId }) => testId);
  const { known } = await app.store.testIngest.load(repository.id, ids);
  const organization = await app.store.accounts.findOrganizationById(repository.organizationId);
  const linkOf = (testId: string) =>
    app.publicUrl === undefined || organization === undefined
      ? undefined
      : testLink(testId, repository, { baseUrl: app.publicUrl, orgSlug: organization.slug });
  const tests = known.map(({ test }) => ({ name: fullName(test), kind: kindOf(test), url: linkOf(test.id) }));
  return { failing, tests: tests.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)) };
}

function kindOf({ quarantinedAt, status }: TestRow): FailedTestFacts['kind'] {
  if (quarantinedAt !== null) return 'quarantined';
  if (status === 'FLAKY') return 'flaky';
  return status === 'BROKEN' ? 'broken' : 'failed';
}

function fullName({ parent, name }: TestRow): string {
  return parent === null || parent === '' ? name : `${parent} › ${name}`;
}
