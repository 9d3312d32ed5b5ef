import type { Job, JobEnd, LeftFiles } from '../../check-runner/runner.ts';
import { type Candidate, compositionOf } from '../../engine/model/candidate.ts';
import type { CheckConclusion, CheckStatus } from '../../engine/model/check.ts';
import { LOWEST_PRIORITY_VALUE } from '../../engine/model/priority.ts';
import { findCandidate, type Queue } from '../../engine/model/queue.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { type Instant, pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { getIn } from '../../lib/int-map.ts';
import type { RunnerCheck } from '../../storage/repositories.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { formatRef } from '../core/find-queue.ts';
import { testBranchOf } from '../queue/entry-run.ts';
import { uploadsOf } from '../queue/report-check.ts';
import { CheckLog } from './check-log.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';
import { handInReports } from './hand-in-reports.ts';

const DEFAULT_TIMEOUT_MINUTES = 60;
/** Another server may decide the candidate: this one polls the queue for it. */
const POLL_EVERY_MS = 2_000;
/** When the machine shuts down, the server also gets its stop signal within this time. */
const SHUTDOWN_MS = 1_000;
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
    const open = run.checks.filter(({ name }) => !completed.has(name));
    const results = await Promise.allSettled(open.map((check) => runCheck(checkRun, check)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined && !watch.decided.aborted) throw failed.reason;
  } finally {
    watch.end();
  }
  return stop.aborted && !watch.decided.aborted ? { kind: 'later', delayMs: 0 } : DONE;
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
  const timeoutMinutes = check.timeoutMinutes ?? DEFAULT_TIMEOUT_MINUTES;
  const log = await openLog(run, check);
  const started = candidate.checks.find(({ name }) => name === check.name)?.startedAt ?? 0;
  // The newest attempt counts, and the clock of the server that began the last one may have been ahead.
  const begin = () => Math.max(app.clock.now(), started + 1);
  let startedAt = begin();
  const isClosed = app.checkRunner.safety.closesNetwork && check.network !== true;
  const output = new NetworkErrors();
  const job = app.checkRunner.run(
    {
      share: found.id,
      rank: rankOf(run),
      command: check.prepare === undefined ? check.command : PREPARED,
      timeoutMs: timeoutMinutes * 60_000,
      network: check.network === true,
      userNamespaces: check.userNamespaces === true,
      variables: { ...check.env, ...commandVariables(check), ...checkVariables(run, candidate, check) },
      prepare: ({ folder, isIsolated }) => forge.checkOut({ repository, sha, folder, isIsolated }),
      onStart: async () => {
        startedAt = begin();
        await log.add(Buffer.from(heading(run, check)));
        await report(run, check, { startedAt, status: 'IN_PROGRESS' });
      },
      onOutput: (bytes) => {
        if (isClosed) output.read(bytes);
        return log.add(bytes);
      },
      ...reportsOf(run, check, log),
    },
    stop,
  );
  const end = await withoutShutdown(run, await job);
  const result = describeEnd(end, { timeoutMinutes, ranMs: Math.max(0, app.clock.now() - startedAt) });
  const { conclusion } = result;
  const text = conclusion !== 'SUCCESS' && output.areFound ? `${result.text} ${NO_NETWORK}` : result.text;
  await log.end(`\n[Sluice] ${text}\n`);
  if (conclusion === undefined) return;
  const summary = conclusion === 'SUCCESS' ? text : `${text} Read its output: sluice logs ${testRunId}`;
  await report(run, check, { startedAt, status: 'COMPLETED', conclusion, summary });
}

/** A shell gets each command as it is written, and the second only after the first passed. */
const PREPARED =
  '/bin/sh -c "$SLUICE_PREPARE" || { code=$?; echo "[Sluice] prepare failed with exit code $code"; exit $code; }; exec /bin/sh -c "$SLUICE_RUN"';

// SPEC R64
function commandVariables({ prepare, command }: RunnerCheck): Readonly<Record<string, string>> {
  return prepare === undefined ? {} : { SLUICE_PREPARE: prepare, SLUICE_RUN: command };
}

/** The reports are stored before the result, so that the judgement of a failure finds them. */
function reportsOf(
  run: CheckRun,
  { name: check, junit = run.junit }: RunnerCheck,
  log: CheckLog,
): Pick<Job, 'reports'> {
  if (junit.length === 0) return {};
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

/** A shutdown of the machine kills checks and servers in any order: such an end of a check is no result. */
async function withoutShutdown({ app, stop }: CheckRun, end: JobEnd): Promise<JobEnd> {
  if (end.kind !== 'killed' || CRASHES.has(end.signal)) return end;
  await pause(app.clock, SHUTDOWN_MS);
  return stop.aborted ? { kind: 'stopped' } : end;
}

/** Jobs run by the priority of their pull requests. */
function rankOf({ found, candidate }: CheckRun): number {
  const priorities = candidate.members.map(({ prNumber }) => getIn(found.queue.entries, prNumber)?.priority.value ?? 0);
  return Math.min(...priorities, LOWEST_PRIORITY_VALUE);
}

async function openLog({ app, testRunId: candidateId }: CheckRun, { name: check }: RunnerCheck): Promise<CheckLog> {
  const key = { candidateId, check };
  const earlier = await app.store.logs.read(key, 0, 0);
  return new CheckLog(app, key, earlier?.size ?? 0);
}

function heading({ app, candidate, found }: CheckRun, { name, command, network, prepare }: RunnerCheck): string {
  const prs = compositionOf(candidate).map(({ prNumber }) => `#${prNumber}`);
  const subject = prs.length === 0 ? 'without any pull request' : `with ${prs.join(' ')}`;
  const place = `${found.queue.branch} at ${candidate.base.sha.slice(0, 12)} ${subject}`;
  const commit = `commit ${candidate.commit?.sha ?? ''}`;
  // Readers of a failed download need this first.
  const closed =
    app.checkRunner.safety.closesNetwork && network !== true ? ', without network (--check-network opens it)' : '';
  return `[Sluice] "${name}" on ${place}, ${commit}${closed}\n${[prepare, command].flatMap((line) => (line === undefined ? [] : `[Sluice] $ ${line}\n`)).join('')}`;
}

const NO_NETWORK =
  'It ran in a sandbox without network, and its output tells of a network error: --check-network opens it.';
const ERRORS =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|could not resolve|name resolution|network is unreachable|no such host|name or service not known/i;

// SPEC R50
class NetworkErrors {
  areFound = false;
  #end = '';

  read(bytes: Buffer): void {
    if (this.areFound) return;
    const text = this.#end + bytes.toString('latin1');
    this.areFound = ERRORS.test(text);
    this.#end = text.slice(-40);
  }
}

/** Signals that a crashing program causes itself. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);

/** The exit codes of a shell that could not run the command. */
const SHELL_CODES: { readonly [code: number]: string } = {
  126: ' (a command cannot be executed)',
  127: ' (a command was not found)',
};

interface CheckEnd {
  /** Undefined where there is no result. */
  readonly conclusion: CheckConclusion | undefined;
  readonly text: string;
}

// SPEC R31, R34
function describeEnd(end: JobEnd, facts: { readonly timeoutMinutes: number; readonly ranMs: number }): CheckEnd {
  const after = `after ${(facts.ranMs / 1_000).toFixed(1)} s`;
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? { conclusion: 'SUCCESS', text: `Passed ${after}.` }
        : { conclusion: 'FAILURE', text: `Failed with exit code ${end.code}${SHELL_CODES[end.code] ?? ''} ${after}.` };
    case 'killed':
      if (CRASHES.has(end.signal)) return { conclusion: 'FAILURE', text: `Crashed (${end.signal}) ${after}.` };
      // The machine or a person killed the check, which says nothing about the code.
      return { conclusion: 'CANCELLED', text: `Ended by ${end.signal} from outside ${after}.` };
    case 'timed_out':
      return { conclusion: 'TIMED_OUT', text: `Did not end within ${facts.timeoutMinutes} minutes, and was killed.` };
    case 'impossible':
      return { conclusion: 'FAILURE', text: end.problem };
    case 'stopped':
      return { conclusion: undefined, text: `Stopped ${after}: its result is not needed here any more.` };
  }
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
  const reported = { name, status, conclusion, startedAt, url: undefined, summary };
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
