import { branchSubjectOf, type Candidate, hasMember } from '../../engine/model/candidate.ts';
import { verdictOfCheck } from '../../engine/model/check.ts';
import { isWaived } from '../../engine/model/judgement.ts';
import { candidateNumberOf } from '../../engine/model/place.ts';
import { type Entry, isLive, type Queue } from '../../engine/model/queue.ts';
import { runsOfSearch } from '../../engine/model/roster.ts';
import { pathsOf } from '../../flaky/core/paths.ts';
import { isDecidedFor } from '../../flaky/coverage.ts';
import { suitesOf } from '../../flaky/judge-check.ts';
import type { Forge } from '../../forge/forge.ts';
import type { Instant } from '../../lib/clock.ts';
import { shellWord } from '../../lib/text.ts';
import type { Repository } from '../../storage/repositories.ts';
import { decodeState, quarantineBy } from '../../storage/test-codec.ts';
import type { FailingTest, KnownTest } from '../../storage/test-ingest.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { Beyond, FailedCheck, FailedTest } from '../../words/explanation.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, formatRef, getForge } from '../core/find-queue.ts';
import { readStats, testLink } from '../tests/test-view.ts';
import { findAnyCandidate, findAnyEntries } from './find-entry.ts';

/** The facts that an explanation needs and the queue does not have: tests, other pull requests, names. */
export async function collectBeyond(app: App, found: FoundQueue, entry: Entry): Promise<Beyond> {
  const { repository, queue } = found;
  const run = await findRun(app, found, entry);
  const place = `${formatRef(repository)} ${shellWord(queue.branch)}`;
  const isOver = !isLive(entry.state);
  const held = isOver ? [] : await collectHeldFailures(app, found);
  if (run === undefined) return { place, held };
  const ahead = isOver ? await findAnyEntries(app, found, entry.because.onTopOf ?? []) : undefined;
  return {
    place,
    held,
    last: run,
    failed: await collectFailures({ app, repository }, found.id, run),
    gone:
      ahead &&
      new Map([...ahead].map(([number, { pr, landed }]) => [number, { title: pr.title, landedSha: landed?.sha }])),
    testBranch: testBranchOf(getForge(app, repository.host), found, run),
  };
}

/** The failed checks of the run that showed that the branch itself is broken. */
// SPEC E37
export async function collectHeldFailures(app: App, found: FoundQueue): Promise<readonly FailedCheck[]> {
  const number = found.queue.hold?.candidate;
  const run = number === undefined ? undefined : await findAnyCandidate(app, found, number);
  return run === undefined ? [] : collectFailures({ app, repository: found.repository }, found.id, run);
}

export function testBranchOf(forge: Forge, { id }: LoadedQueue, candidate: Candidate): string {
  return forge.testBranchOf({
    candidateId: candidateIdOf(id, candidate.number),
    ...branchSubjectOf(candidate),
  });
}

/** The candidate that tests the entry now, or that decided it. */
export async function findRun(app: App, { id, queue }: LoadedQueue, entry: Entry): Promise<Candidate | undefined> {
  const number =
    entry.landed?.candidate ?? candidateNumberOf(entry) ?? bisectionRunOf(queue, entry) ?? entry.because.candidate;
  const candidate = number === undefined ? undefined : await findAnyCandidate(app, { id, queue }, number);
  const { kind } = candidate?.purpose ?? {};
  return kind === 'direct' || kind === 'head' ? undefined : candidate;
}

/** Of an entry that failed, the run that shows the failure. */
function bisectionRunOf(queue: Queue, { place, prNumber, state }: Entry): Candidate['number'] | undefined {
  if (place.kind !== 'search') return undefined;
  const all = runsOfSearch(queue, { number: place.search }).filter((run) => hasMember(run, prNumber));
  const failed = state === 'PENDING_FAILURE' ? all.filter((run) => run.state === 'failed') : [];
  const runs = failed.length > 0 ? failed : all;
  // The shortest run that contains it says most about it.
  const [run] = runs.toSorted((a, b) => a.members.length - b.members.length || b.number - a.number);
  return run?.number;
}

/** More are neither read nor shown. */
const MAX_FAILED = 25;
const MAX_TESTS = 100;
/** A test beyond these is named without its history. */
const MAX_COUNTED = 10;

const ORDER: readonly FailedTest['kind'][] = ['failed', 'broken', 'flaky', 'quarantined'];

interface Place {
  readonly app: App;
  readonly repository: Repository;
}

/** The checks that failed in a candidate, also waived ones, with their failed tests. */
async function collectFailures(
  place: Place,
  queueId: LoadedQueue['id'],
  candidate: Candidate,
): Promise<readonly FailedCheck[]> {
  const candidateId = candidateIdOf(queueId, candidate.number);
  const blamed = new Set(candidate.failure?.checks);
  const failed = [...new Set([...(candidate.required?.names ?? []), ...blamed])].flatMap((name) => {
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

/** The failed tests of a candidate's check, as uploaded, the most important first. */
async function collectFailedTests(
  place: Place,
  candidateId: string,
  check: string,
): Promise<Pick<FailedCheck, 'tests' | 'failing'>> {
  const { app, repository } = place;
  const results = await app.store.testIngest.findCheckResults(repository.id, candidateId, check);
  const failing = results?.failing.length ?? 0;
  if (results === undefined || failing === 0) return { tests: [], failing };
  const paths = new Map(results.failing.slice(0, MAX_TESTS).map((each) => [each.testId, each.paths]));
  const { known } = await app.store.testIngest.load(repository.id, [...paths.keys()]);
  const now = app.clock.now();
  const tests = known.map((each) => nameFailed(each, paths.get(each.test.id), now));
  const sorted = tests.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return { failing, tests: await describeTests(place, sorted) };
}

type NamedTest = Pick<FailedTest, 'id' | 'file' | 'name' | 'kind'>;

/** A test in several suites is named with those in which it failed. It is quarantined only if its decision covers them. */
// SPEC V65
function nameFailed({ test, memory }: KnownTest, paths: FailingTest['paths'] = [null], now: Instant): NamedTest {
  const state = decodeState(memory.state);
  const of = { state, quarantine: quarantineBy(test, state, now) };
  const isOutside = paths.some((path) => isDecidedFor(of, path, now) === false);
  const suites = pathsOf(state).length > 1 ? suitesOf(test, paths) : undefined;
  const kind = kindOf(isOutside ? { ...test, quarantinedAt: null } : test);
  const name = suites === undefined ? fullName(test) : `${suites.join(', ')} › ${test.name}`;
  return { id: test.id, file: test.file ?? undefined, name, kind };
}

async function describeTests({ app, repository }: Place, tests: readonly NamedTest[]): Promise<readonly FailedTest[]> {
  const organization = await app.store.accounts.findOrganizationById(repository.organizationId);
  const linkOf = (testId: string) =>
    app.publicUrl === undefined || organization === undefined
      ? undefined
      : testLink(testId, repository, { baseUrl: app.publicUrl, orgSlug: organization.slug });
  const stats = await readStats(app, repository, tests.slice(0, MAX_COUNTED));
  return tests.map((test, index) => {
    const { runs7d = 0, failures7d = 0, pullRequestsImpacted7d = 0 } = stats[index] ?? {};
    const lately = runs7d === 0 ? undefined : { runs: runs7d, failures: failures7d, prs: pullRequestsImpacted7d };
    return { ...test, url: linkOf(test.id), lately };
  });
}

function kindOf({ quarantinedAt, status }: TestRow): FailedTest['kind'] {
  if (quarantinedAt !== null) return 'quarantined';
  if (status === 'FLAKY') return 'flaky';
  return status === 'BROKEN' ? 'broken' : 'failed';
}

function fullName({ parent, name }: TestRow): string {
  return parent === null || parent === '' ? name : `${parent} › ${name}`;
}
