import type { CacheHit, Job, LeftFiles } from '../../check-runner/runner.ts';
import type { RunnerCheck } from '../../checks/check.ts';
import { type Selection, selectTests } from '../../checks/selects/select-tests.ts';
import { type Candidate, compositionOf } from '../../engine/model/candidate.ts';
import type { CheckConclusion, CheckStatus } from '../../engine/model/check.ts';
import { LOWEST_PRIORITY_VALUE } from '../../engine/model/priority.ts';
import { probeNameOf } from '../../engine/model/question.ts';
import { findCandidate, type Queue } from '../../engine/model/queue.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { type Instant, pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { getIn } from '../../lib/int-map.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { formatRef } from '../core/find-queue.ts';
import { readAskedTests } from '../queue/asked-tests.ts';
import { testBranchOf } from '../queue/entry-run.ts';
import { uploadsOf } from '../queue/report-check.ts';
import { type Caching, jobHeading, runJob } from './check-job.ts';
import { CheckLog } from './check-log.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';
import { fillCache } from './fill-cache.ts';
import { handInReports } from './hand-in-reports.ts';

/** Another server may decide the candidate: this one polls the queue for it. */
const POLL_EVERY_MS = 2_000;
const RETRY = { firstMs: 200, capMs: 10_000, spread: 1 };

interface CheckRun extends EffectRun {
  readonly candidate: Candidate;
  readonly testRunId: string;
  readonly stop: AbortSignal;
}

/** Only checks without a result. If the server dies, the next one runs the rest. */
// SPEC R1
export async function runChecks(run: EffectRun, candidate: Candidate, stop: AbortSignal): Promise<EffectAnswer> {
  const watch = watchCandidate(run, candidate);
  const testRunId = candidateIdOf(run.found.id, candidate.number);
  const checkRun = { ...run, candidate, testRunId, stop: AbortSignal.any([stop, watch.decided]) };
  try {
    // SPEC R7
    const completed = new Set(candidate.checks.flatMap(({ name, status }) => (status === 'COMPLETED' ? name : [])));
    const open = checksOf(run, candidate).filter(({ name }) => !completed.has(reportedAs(candidate, name)));
    const results = await Promise.allSettled(open.map((check) => runCheck(checkRun, check)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined && !watch.decided.aborted) throw failed.reason;
  } finally {
    watch.end();
  }
  return stop.aborted && !watch.decided.aborted ? { kind: 'later', delayMs: 0 } : DONE;
}

/** Of a probe, those that it asks. */
function checksOf({ checks }: EffectRun, { question }: Candidate): readonly RunnerCheck[] {
  return question === undefined ? checks : checks.filter(({ name }) => question.some(({ check }) => check === name));
}

/** The name of its log, its reports and its result. */
function reportedAs({ question }: Candidate, name: string): string {
  return question === undefined ? name : probeNameOf(name);
}

// SPEC R33
function watchCandidate({ app, found }: EffectRun, { number }: Candidate) {
  const decided = new AbortController();
  const check = (queue: Queue | undefined) => {
    if (queue === undefined || findCandidate(queue, number)?.state !== 'testing') decided.abort();
  };
  const stopListening = app.queues.listen((loaded) => {
    if (loaded.id === found.id) check(loaded.queue);
  });
  const look = async () => check((await app.queues.find(found.id))?.queue);
  const poll = () => {
    // The store is away for a moment; the next poll reads again.
    look().catch(() => undefined);
    cancel = app.clock.after(POLL_EVERY_MS, poll);
  };
  let cancel = app.clock.after(0, poll);
  const end = () => {
    stopListening();
    cancel();
  };
  return { decided: decided.signal, end };
}

async function runCheck(run: CheckRun, check: RunnerCheck): Promise<void> {
  const { app, found, forge, repository, candidate, testRunId, stop } = run;
  const sha = candidate.commit?.sha;
  if (sha === undefined) return;
  const log = await openLog(run, check);
  const reported = reportedAs(candidate, check.name);
  const started = candidate.checks.find(({ name }) => name === reported)?.startedAt ?? 0;
  // The newest attempt counts, and the clock of the server that began the last one may have been ahead.
  const begin = () => Math.max(app.clock.now(), started + 1);
  let startedAt = begin();
  const selection = await selectionOf(run, check);
  const job = {
    ...{ app, forge, repository, sha, check, selection, share: found.id, rank: rankOf(run) },
    isLanded: compositionOf(candidate).length === 0,
    caching: cachingOf(run, check),
    variables: checkVariables(run, candidate, check),
    onStart: async () => {
      startedAt = begin();
      await log.add(Buffer.from(heading(run, check) + describeSelection(selection)));
      await report(run, check, { startedAt, status: 'IN_PROGRESS' });
    },
    onOutput: (bytes: Buffer) => log.add(bytes),
    ...reportsOf(run, check, log),
  };
  const { conclusion, text } = await runJob(job, stop);
  await log.end(`\n[Sluice] ${text}\n`);
  if (conclusion === undefined) return;
  const summary = conclusion === 'SUCCESS' ? text : `${text} Read its output: sluice logs ${testRunId}`;
  await report(run, check, { startedAt, status: 'COMPLETED', conclusion, summary });
}

/** Undefined: everything runs. */
// SPEC R102
async function selectionOf({ app, found, candidate }: CheckRun, { name, selects }: RunnerCheck) {
  const { question = [] } = candidate;
  const asked = question.find(({ check }) => check === name);
  if (asked === undefined || selects === undefined) return undefined;
  const tests = await readAskedTests(app, found.repositoryId, [asked]);
  return tests.length < asked.tests.length ? undefined : selectTests(selects, tests);
}

function describeSelection(selection: Selection | undefined): string {
  if (selection === undefined) return '';
  const { by, args } = selection;
  if (by === 'nothing') return '[Sluice] All tests run: the names of those that failed before fit into no arguments.\n';
  const words = args.map((arg) => JSON.stringify(arg)).join(' ');
  return `[Sluice] Only ${by} that failed before run. "$@" is ${words}\n`;
}

/** A run without any pull request is one of the branch itself. */
// SPEC R82
function cachingOf(run: CheckRun, check: RunnerCheck): Caching {
  const { found, candidate } = run;
  const { branch } = found.queue;
  if (candidate.commit?.sha === candidate.base.sha && candidate.members.length === 0) return { branch, use: 'store' };
  const onHit = (hit: CacheHit) => {
    if (hit !== 'exact') fillCache(run, check.name);
  };
  return { branch, use: 'read', onHit };
}

/** The reports are stored before the result, so that the judgement of a failure finds them. */
function reportsOf(run: CheckRun, { name, junit = run.junit }: RunnerCheck, log: CheckLog): Pick<Job, 'reports'> {
  if (junit.length === 0) return {};
  const check = reportedAs(run.candidate, name);
  const take = async (left: LeftFiles) => {
    const lines = await handInReports(run, { candidate: run.candidate, check, left });
    await log.add(Buffer.from(`\n${lines}`));
  };
  const begin = async () => {
    const problem = await recordReading(run, check);
    if (problem !== undefined) await log.add(Buffer.from(`\n[Sluice] Test reports are not read: ${problem}\n`));
    return problem === undefined;
  };
  return { reports: { globs: junit, begin, take } };
}

/** A check of a candidate runs again only if it was interrupted. */
const MAX_READINGS = 2;

/** A log of one byte for each reading, which all servers share. Returns why the reports are not read. */
// SPEC R48
async function recordReading({ app, testRunId }: CheckRun, check: string): Promise<string | undefined> {
  const tally = { candidateId: `${testRunId} readings`, check };
  try {
    if (((await app.store.logs.read(tally, 0, 0))?.size ?? 0) < MAX_READINGS) {
      await app.store.logs.append(tally, Buffer.from('x'), app.clock.now());
      return undefined;
    }
  } catch (error) {
    if (error instanceof Fault) return error.detail;
    throw error;
  }
  app.log.error({ testRunId, check }, 'the test reports of a check are not read: the server ended twice meanwhile');
  return 'the server ended twice while it read them.';
}

/** Jobs run by the priority of their pull requests. */
function rankOf({ found, candidate }: CheckRun): number {
  const priorities = candidate.members.map(({ prNumber }) => getIn(found.queue.entries, prNumber)?.priority.value ?? 0);
  return Math.min(...priorities, LOWEST_PRIORITY_VALUE);
}

async function openLog({ app, candidate, testRunId: candidateId }: CheckRun, { name }: RunnerCheck): Promise<CheckLog> {
  const key = { candidateId, check: reportedAs(candidate, name) };
  const earlier = await app.store.logs.read(key, 0, 0);
  return new CheckLog(app, key, earlier?.size ?? 0);
}

function heading({ app, candidate, found }: CheckRun, check: RunnerCheck): string {
  const prs = compositionOf(candidate).map(({ prNumber }) => `#${prNumber}`);
  const subject = prs.length === 0 ? 'without any pull request' : `with ${prs.join(' ')}`;
  const place = `${found.queue.branch} at ${candidate.base.sha.slice(0, 12)} ${subject}`;
  return jobHeading(app, check, `${place}, commit ${candidate.commit?.sha ?? ''}`);
}

interface Progress {
  readonly startedAt: Instant;
  readonly status: CheckStatus;
  readonly conclusion?: CheckConclusion;
  readonly summary?: string;
}

/** Retries while the store is away, so that the result is not lost. */
async function report(run: CheckRun, { name }: RunnerCheck, progress: Progress): Promise<void> {
  const { app, found, candidate, stop } = run;
  const { startedAt, status, conclusion, summary } = progress;
  const reported = { name: reportedAs(candidate, name), status, conclusion, startedAt, url: undefined, summary };
  for (let attempts = 0; ; attempts += 1) {
    try {
      const check = { ...reported, ...(await uploadsOf(app, found.repositoryId, [reported])) };
      await app.queues.run(found.id, () => ({
        kind: 'check_reported',
        at: app.clock.now(),
        candidate: candidate.number,
        check,
      }));
      return;
    } catch (error) {
      if (!(error instanceof Fault) || stop.aborted) throw error;
      app.log.warn({ err: error, check: name }, 'could not report a check, retrying');
      await pause(app.clock, backoffMs(attempts, RETRY));
    }
  }
}

// SPEC R2
function checkVariables(
  { found, forge, repository }: EffectRun,
  candidate: Candidate,
  { name }: RunnerCheck,
): Record<string, string> {
  const candidateId = candidateIdOf(found.id, candidate.number);
  const { members } = candidate;

  return {
    CI: 'true',
    SLUICE: 'true',
    SLUICE_REPOSITORY: formatRef(repository),
    SLUICE_TARGET_BRANCH: found.queue.branch,
    SLUICE_TEST_BRANCH: testBranchOf(forge, found, candidate),
    SLUICE_TEST_RUN_ID: candidateId,
    SLUICE_CHECK: name,
    SLUICE_COMMIT: candidate.commit?.sha ?? '',
    SLUICE_BASE_COMMIT: candidate.base.sha,
    // All pull requests in the commit, and those tested in it for the first time.
    SLUICE_PULL_REQUESTS: compositionOf(candidate)
      .map(({ prNumber }) => prNumber)
      .join(' '),
    SLUICE_TESTED_PULL_REQUESTS: members.map(({ prNumber }) => prNumber).join(' '),
  };
}
