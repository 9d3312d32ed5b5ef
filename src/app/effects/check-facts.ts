import { isNewFlake } from '../../engine/line/new-flakes.ts';
import { type Candidate, compositionOf } from '../../engine/model/candidate.ts';
import { isAwaited, MAX_JUDGED_TESTS, MAX_REPETITIONS } from '../../engine/model/judgement.ts';
import { checkOfProbe } from '../../engine/model/question.ts';
import { areSameChecks } from '../../engine/model/required.ts';
import { candidatesOf } from '../../engine/model/roster.ts';
import type { CheckFacts, FailedTest, LastPass, OtherRun } from '../../flaky/judge-check.ts';
import { quarantineOf } from '../../flaky/quarantine.ts';
import type { Instant } from '../../lib/clock.ts';
import { mergeResults } from '../../storage/merge-results.ts';
import type { Repository } from '../../storage/repositories.ts';
import { overrideOf, quarantineSettingsOf, readTestSettings } from '../../storage/test-codec.ts';
import { ANY_CHECK, type CheckResults, type KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { findAnyEntries } from '../queue/find-entry.ts';
import { quarantinedFor } from '../tests/stored-test-settings.ts';
import { type EffectRun, numbersOf } from './effect-run.ts';

interface Question {
  readonly check: string;
  readonly conclusion: CheckFacts['conclusion'];
  /** Reports that name no check count: no failure is excused by them. */
  readonly isProbe?: boolean;
}

export async function collectCheckFacts(run: EffectRun, candidate: Candidate, of: Question): Promise<CheckFacts> {
  const { check, conclusion } = of;
  const isProbe = candidate.question !== undefined;
  const { app, found } = run;
  const repository = await app.directory.findRepositoryById(found.repositoryId);
  const candidateId = candidateIdOf(found.id, candidate.number);
  // Waiting uploads are counted before the results are read: one that is processed in between is found by the next
  // poll.
  const reportedAt = candidate.checks.find(({ name }) => name === check)?.reportedAt;
  const isWaiting = await app.store.uploads.hasWaiting(found.repositoryId, candidateId, check, reportedAt);
  const results = await findResults(run, candidateId, { ...of, isProbe });
  const loaded = { results, plannedAt: candidate.plannedAt };
  const tests = repository === undefined ? new Map() : await loadTests(run, repository, loaded);
  return {
    conclusion,
    isWaiting,
    // Without any upload there are no results to wait for.
    isComplete: isOfRunner(run, candidate, check) || (await app.store.uploads.getWatermark(found.repositoryId)) === 0,
    isOfSeveralRuns: await isOfSeveralRuns(run, candidate, { check, results }),
    results,
    lastPass: await findLastPass(run, candidate, check),
    others: isProbe ? [] : await findOtherRuns(run, candidate, of),
    repetitionsLeft: MAX_REPETITIONS - (candidate.repeats?.length ?? 0),
    admittedAt: await findAdmission(run, candidate),
    tests,
    maxFailing: MAX_JUDGED_TESTS,
  };
}

// SPEC U64
async function findResults({ app, found }: EffectRun, candidateId: string, { check, conclusion, isProbe }: Question) {
  const find = (name: string) => app.store.testIngest.findCheckResults(found.repositoryId, candidateId, name);
  const isOfAny = conclusion === 'SUCCESS' || isProbe === true;
  const [own, other] = [await find(check), isOfAny ? await find(ANY_CHECK) : undefined];
  return other === undefined ? own : mergeResults(own, other);
}

/** Results of the same check on the same tree: of the runs that this one repeats, and of others in the queue. */
async function findOtherRuns(run: EffectRun, candidate: Candidate, of: Question): Promise<OtherRun[]> {
  const { app, found } = run;
  const queue = (await app.queues.find(found.id))?.queue ?? found.queue;
  const rows = await Promise.all(
    (candidate.repeats ?? []).map((number) => app.store.queueRecords.findCandidate(found.id, number)),
  );
  const runs = [...rows.flatMap((row) => (row === undefined ? [] : decodeCandidate(row))), ...candidatesOf(queue)];
  const others: OtherRun[] = [];
  for (const other of runs.filter((each) => isOfTree(each, candidate, of.check))) {
    const results = await findResults(run, candidateIdOf(found.id, other.number), of);
    if (results !== undefined) others.push({ candidate: other.number, results });
  }
  return others;
}

/** By the same command or reporter: else results of a run that never was could be uploaded. */
function isOfTree(other: Candidate, { number, commit, required, checks }: Candidate, check: string): boolean {
  if (other.number === number || other.commit === undefined || other.commit.tree !== commit?.tree) return false;
  if (other.required === undefined || required === undefined || !areSameChecks(other.required, required)) return false;
  const known = other.checks.find(({ name }) => name === check);
  const hasRun = (known?.conclusion === 'SUCCESS' || known?.conclusion === 'FAILURE') && !isAwaited(known);
  return hasRun && known.reporter === checks.find(({ name }) => name === check)?.reporter;
}

/** The built-in runner stores the reports before it reports the result of the check. */
function isOfRunner({ checks }: EffectRun, { required, question }: Candidate, check: string): boolean {
  const plain = question === undefined ? check : checkOfProbe(check);
  return required?.commands !== '' && checks.some(({ name }) => name === plain);
}

/** The built-in runner stores the reports of a run before the next one begins. Other uploads do not say their run. */
// SPEC V48
async function isOfSeveralRuns(
  run: EffectRun,
  candidate: Candidate,
  { check, results }: { readonly check: string; readonly results: CheckResults | undefined },
): Promise<boolean> {
  const known = candidate.checks.find(({ name }) => name === check);
  if (known?.isRepeated !== true || results === undefined) return false;
  if (!isOfRunner(run, candidate, check)) return true;
  const uploads = await Promise.all(results.uploadIds.map((id) => run.app.store.uploads.find(id)));
  return uploads.some((upload) => upload === undefined || upload.receivedAt < (known.startedAt ?? 0));
}

// SPEC V49
async function findLastPass(
  { app, found }: EffectRun,
  { lastPasses = [], question }: Candidate,
  check: string,
): Promise<LastPass | null> {
  const plain = question === undefined ? check : checkOfProbe(check);
  const last = lastPasses.find((pass) => pass.check === plain);
  if (last === undefined) return null;
  const id = candidateIdOf(found.id, last.candidate);
  const isWaiting = await app.store.uploads.hasWaiting(found.repositoryId, id, plain);
  const results = await app.store.testIngest.findCheckResults(found.repositoryId, id, plain);
  if (results !== undefined) return { ...results, isWaiting };
  return isWaiting ? { isWaiting, isWhole: false, uploadIds: [], testNos: [] } : null;
}

/** The latest admission of its entries. For a test of the head alone, the time it was planned. */
async function findAdmission({ app, found }: EffectRun, candidate: Candidate): Promise<Instant> {
  const members = compositionOf(candidate);
  const present = (await app.queues.find(found.id)) ?? found;
  const entries = await findAnyEntries(app, present, numbersOf(members));
  const admissions = members.flatMap(({ prNumber, submission }) => {
    const entry = entries.get(prNumber);
    return entry?.submission === submission ? (entry.admission?.at ?? []) : [];
  });
  return admissions.length === 0 ? candidate.plannedAt : Math.max(...admissions);
}

async function loadTests(
  { app, found }: EffectRun,
  repository: Repository,
  { results, plannedAt }: { readonly results: CheckResults | undefined; readonly plannedAt: Instant },
): Promise<ReadonlyMap<string, FailedTest>> {
  const ids = results?.failing.map(({ testId }) => testId) ?? [];
  if (ids.length === 0) return new Map();
  const settings = await readTestSettings(app.store, repository);
  const { known } = await app.store.testIngest.load(found.repositoryId, ids);
  const now = app.clock.now();
  const { queue } = (await app.queues.find(found.id)) ?? found;
  return new Map(
    known.map((each) => {
      const test = toFailedTest(each, settings, { now, plannedAt });
      const isFresh = test.isAutomatic && isNewFlake(queue, each.test.id, now);
      return [each.test.id, isFresh ? { ...test, isAutomatic: false, quarantinedAt: null } : test];
    }),
  );
}

/** Changed settings and expired decisions count at once, also before the stored state of the test follows them. */
function toFailedTest(
  known: KnownTest,
  settings: StoredTestSettings,
  { now, plannedAt }: { readonly now: Instant; readonly plannedAt: Instant },
): FailedTest {
  const { test } = known;
  const judged = quarantinedFor(known, settings, now);
  const override = overrideOf(test);
  const ruled = quarantineSettingsOf(settings.settings);
  const quarantine = quarantineOf(judged.state.status, override, ruled, now);
  const isAlways = quarantine.isQuarantined && quarantine.by === 'ALWAYS_QUARANTINE';
  // The status of a test may change between its upload, whose exit code followed it, and this judgement.
  const hasChanged = !quarantine.isQuarantined && override === null && test.statusAt >= plannedAt;
  return {
    name: test.name,
    parent: test.parent,
    quarantinedAt: quarantine.isQuarantined ? test.quarantinedAt : null,
    isAutomatic: (quarantine.isQuarantined && !isAlways) || (hasChanged && ruled.isEnabled && ruled.isAutomatic),
    ...(isAlways && test.override !== null && { decidedBy: test.override.actor }),
    ...judged,
  };
}
