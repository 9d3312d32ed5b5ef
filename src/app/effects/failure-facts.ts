import { type Candidate, compositionOf } from '../../engine/candidate.ts';
import { findLiveMember } from '../../engine/queue.ts';
import type { FailedTest, FailureFacts, LastPass } from '../../flaky/judge-failure.ts';
import { quarantineOf } from '../../flaky/quarantine.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import { overrideOf, quarantineSettingsOf } from '../../storage/test-codec.ts';
import type { CheckResults, KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import { quarantinedFor } from '../tests/quarantined-for.ts';
import { getRetentionStart, getTestSettings } from '../tests/stored-test-settings.ts';
import type { EffectRun } from './effect-run.ts';
import type { WantedEvidence } from './waiver-evidence.ts';

type Facts = Omit<FailureFacts, 'maxFailing' | 'evidence'> & WantedEvidence;

/** Collects everything that the judgement of a failed check needs. */
export async function collectFailureFacts(run: EffectRun, candidate: Candidate, check: string): Promise<Facts> {
  const { app, found } = run;
  const repository = await app.directory.findRepositoryById(found.repositoryId);
  const candidateId = candidateIdOf(found.id, candidate.number);
  // Waiting uploads are counted before the results are read: one that is processed in between is found by the next
  // poll.
  const isWaiting = await app.store.uploads.hasWaiting(found.repositoryId, candidateId, check);
  const results = await app.store.testIngest.findCheckResults(found.repositoryId, candidateId, check);
  const tests = repository === undefined ? new Map() : await loadTests(run, repository, results);
  return {
    isWaiting,
    isComplete: isOfRunner(run, candidate, check) || (await isWithoutResults(run)),
    isOfSeveralRuns: await isOfSeveralRuns(run, candidate, { check, results }),
    results,
    lastPass: await findLastPass(run, candidate, check),
    admittedAt: await findAdmission(run, candidate),
    tests,
    since: repository === undefined ? 0 : await getRetentionStart(app, repository, app.clock.now()),
  };
}

/** The built-in runner stores the reports before it reports the result of the check. */
function isOfRunner({ checks }: EffectRun, { required }: Candidate, check: string): boolean {
  return required?.commands !== '' && checks.some(({ name }) => name === check);
}

/** The repository never had an upload, so that there are no results to wait for. */
async function isWithoutResults({ app, found }: EffectRun): Promise<boolean> {
  return (await app.store.uploads.getWatermark(found.repositoryId)) === 0;
}

/**
 * An upload does not say which run of a check made it. For the built-in runner it is known: it stores the reports of a
 * run before the next run begins.
 */
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
  { lastPasses = [] }: Candidate,
  check: string,
): Promise<LastPass | null> {
  const last = lastPasses.find((pass) => pass.check === check);
  if (last === undefined) return null;
  const id = candidateIdOf(found.id, last.candidate);
  const isWaiting = await app.store.uploads.hasWaiting(found.repositoryId, id, check);
  const results = await app.store.testIngest.findCheckResults(found.repositoryId, id, check);
  if (results !== undefined) return { ...results, isWaiting };
  return isWaiting ? { isWaiting, isWhole: false, uploadIds: [], testNos: [] } : null;
}

/** The latest admission of its entries. For a test of the head alone, the time it was planned. */
async function findAdmission({ app, found }: EffectRun, candidate: Candidate): Promise<Instant> {
  const members = compositionOf(candidate);
  const queue = (await app.queues.find(found.id))?.queue ?? found.queue;
  const ended = members.filter((member) => findLiveMember(queue, member) === undefined);
  const rows =
    ended.length === 0
      ? []
      : await app.store.queues.findEntries(
          found.id,
          ended.map((m) => m.prNumber),
        );
  const entries = new Map(rows.map((row) => [row.prNumber, decodeShownEntry(row)]));
  const admissions = members.flatMap((member) => {
    const entry = findLiveMember(queue, member) ?? entries.get(member.prNumber);
    return entry?.submission === member.submission ? (entry.admission?.at ?? []) : [];
  });
  return admissions.length === 0 ? candidate.plannedAt : Math.max(...admissions);
}

async function loadTests(
  { app, found }: EffectRun,
  repository: Repository,
  results: CheckResults | undefined,
): Promise<ReadonlyMap<string, FailedTest>> {
  const ids = results?.failing.map(({ testId }) => testId) ?? [];
  if (ids.length === 0) return new Map();
  const settings = await getTestSettings(app, repository);
  const { known } = await app.store.testIngest.load(found.repositoryId, ids);
  return new Map(known.map((each) => [each.test.id, toFailedTest(each, settings, app.clock.now())]));
}

/** Changed settings and expired decisions count at once, also before the stored state of the test follows them. */
function toFailedTest(known: KnownTest, settings: StoredTestSettings, now: Instant): FailedTest {
  const { test } = known;
  const judged = quarantinedFor(known, settings, now);
  const quarantine = quarantineOf(judged.state.status, overrideOf(test), quarantineSettingsOf(settings.settings), now);
  return {
    name: test.name,
    parent: test.parent,
    quarantinedAt: quarantine.isQuarantined ? test.quarantinedAt : null,
    ...judged,
  };
}
