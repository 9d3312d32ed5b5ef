import type { Job, JobEnd, LeftFiles } from '../../check-runner/runner.ts';
import { type Candidate, compositionOf } from '../../engine/candidate.ts';
import type { CheckConclusion, CheckStatus } from '../../engine/check.ts';
import { LOWEST_PRIORITY_VALUE } from '../../engine/priority.ts';
import { findCandidate, type Queue } from '../../engine/queue.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { type Instant, pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { getIn } from '../../lib/int-map.ts';
import type { RunnerCheck } from '../../storage/repositories.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { CheckLog } from './check-log.ts';
import { checkVariables } from './check-variables.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';
import { handInReports } from './hand-in-reports.ts';

const DEFAULT_TIMEOUT_MINUTES = 60;
/** Another server may decide about the candidate; this one hears of it by looking. */
const LOOK_EVERY_MS = 2_000;
/** A server that is to end with its checks knows it by then. */
const SHUTDOWN_MS = 1_000;
const INSIST = { firstMs: 200, capMs: 10_000, spread: 1 };

/** What all checks of one candidate have in common. */
interface CheckRun extends EffectRun {
  readonly candidate: Candidate;
  readonly testRunId: string;
  readonly stop: AbortSignal;
}

/**
 * Runs those checks of a candidate that have no result yet, and reports each. When the candidate is decided, or nobody
 * wants it any more, what still runs is stopped. A server that dies on the way leaves the rest to the next one.
 */
export async function runChecks(run: EffectRun, candidate: Candidate, stop: AbortSignal): Promise<EffectAnswer> {
  const watch = watchCandidate(run, candidate);
  const testRunId = candidateIdOf(run.found.id, candidate.number);
  const checkRun = { ...run, candidate, testRunId, stop: AbortSignal.any([stop, watch.decided]) };
  try {
    const open = run.checks.filter(({ name }) => !isCompleted(candidate, name));
    const results = await Promise.allSettled(open.map((check) => runCheck(checkRun, check)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined && !watch.decided.aborted) throw failed.reason;
  } finally {
    watch.end();
  }
  return stop.aborted && !watch.decided.aborted ? { kind: 'later', delayMs: 0 } : DONE;
}

function isCompleted({ checks }: Candidate, name: string): boolean {
  return checks.some((check) => check.name === name && check.status === 'COMPLETED');
}

/** Tells when the candidate is not under test any more. */
function watchCandidate({ app, found }: EffectRun, { number }: Candidate) {
  const decided = new AbortController();
  const look = (queue: Queue | undefined) => {
    if (queue === undefined || findCandidate(queue, number)?.state !== 'testing') decided.abort();
  };
  const stopListening = app.queues.listen((loaded) => {
    if (loaded.id === found.id) look(loaded.queue);
  });
  const lookAgain = () => {
    app.queues.find(found.id).then(
      (loaded) => look(loaded?.queue),
      // The store is away for a moment; the next look asks again.
      () => undefined,
    );
    cancel = app.clock.after(LOOK_EVERY_MS, lookAgain);
  };
  let cancel = app.clock.after(0, lookAgain);
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
  // The newest attempt counts, also where the clock of the server that began the last one was ahead.
  const begin = () => Math.max(app.clock.now(), started + 1);
  let startedAt = begin();
  const job = app.checkRunner.run(
    {
      share: found.id,
      rank: rankOf(run),
      command: check.command,
      timeoutMs: timeoutMinutes * 60_000,
      network: check.network === true,
      variables: checkVariables(run, candidate, check),
      prepare: ({ folder, isIsolated }) => forge.checkOut({ repository, sha, folder, isIsolated }),
      onStart: async () => {
        startedAt = begin();
        await log.add(Buffer.from(heading(run, check)));
        await report(run, check, { startedAt, status: 'IN_PROGRESS' });
      },
      onOutput: (bytes) => log.add(bytes),
      ...reportsOf(run, check, log),
    },
    stop,
  );
  const end = await withoutShutdown(run, await job);
  const words = wordsOf(end, { timeoutMinutes, ranMs: Math.max(0, app.clock.now() - startedAt) });
  await log.end(`\n[Sluice] ${words.text}\n`);
  if (words.conclusion === undefined) return;
  const { conclusion, text } = words;
  const summary = conclusion === 'SUCCESS' ? text : `${text} Read its output: sluice logs ${testRunId}`;
  await report(run, check, { startedAt, status: 'COMPLETED', conclusion, summary });
}

/** They are there before the result is: whoever judges a failure finds them. */
function reportsOf(run: CheckRun, { name: check }: RunnerCheck, log: CheckLog): Pick<Job, 'reports'> {
  if (run.junit.length === 0) return {};
  const take = async (left: LeftFiles) => {
    const told = await handInReports(run, { candidate: run.candidate, check, left });
    await log.add(Buffer.from(`\n${told}`));
  };
  return { reports: { globs: run.junit, take } };
}

/** A machine that shuts down ends checks and servers together, in any order: then there is no result. */
async function withoutShutdown({ app, stop }: CheckRun, end: JobEnd): Promise<JobEnd> {
  if (end.kind !== 'killed' || CRASHES.has(end.signal)) return end;
  await pause(app.clock, SHUTDOWN_MS);
  return stop.aborted ? { kind: 'stopped' } : end;
}

/** What people ask for first is checked first. */
function rankOf({ found, candidate }: CheckRun): number {
  const priorities = candidate.members.map(({ prNumber }) => getIn(found.queue.entries, prNumber)?.priority.value ?? 0);
  return Math.min(...priorities, LOWEST_PRIORITY_VALUE);
}

async function openLog({ app, testRunId: candidateId }: CheckRun, { name: check }: RunnerCheck): Promise<CheckLog> {
  const key = { candidateId, check };
  const earlier = await app.store.logs.read(key, 0, 0);
  return new CheckLog(app, key, earlier?.size ?? 0);
}

function heading({ app, candidate, found }: CheckRun, { name, command, network }: RunnerCheck): string {
  const prs = compositionOf(candidate).map(({ prNumber }) => `#${prNumber}`);
  const subject = prs.length === 0 ? 'without any pull request' : `with ${prs.join(' ')}`;
  const place = `${found.queue.branch} at ${candidate.base.sha.slice(0, 12)} ${subject}`;
  const commit = `commit ${candidate.commit?.sha ?? ''}`;
  // The first thing to know where a download fails.
  const closed =
    app.checkRunner.safety.closesNetwork && network !== true ? ', without network (--check-network opens it)' : '';
  return `[Sluice] "${name}" on ${place}, ${commit}${closed}\n[Sluice] $ ${command}\n`;
}

/** Signals that a program brings upon itself. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);

interface Words {
  /** Undefined where there is no result. */
  readonly conclusion: CheckConclusion | undefined;
  readonly text: string;
}

function wordsOf(end: JobEnd, facts: { readonly timeoutMinutes: number; readonly ranMs: number }): Words {
  const after = `after ${(facts.ranMs / 1_000).toFixed(1)} s`;
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? { conclusion: 'SUCCESS', text: `Passed ${after}.` }
        : { conclusion: 'FAILURE', text: `Failed with exit code ${end.code} ${after}.` };
    case 'killed':
      if (CRASHES.has(end.signal)) return { conclusion: 'FAILURE', text: `Crashed (${end.signal}) ${after}.` };
      // Nothing is known about the code: the machine, or somebody on it, ended the check.
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

/** What a check has found is not lost because the store is away for a while. */
async function report(run: CheckRun, { name }: RunnerCheck, progress: Progress): Promise<void> {
  const { app, found, candidate, stop } = run;
  const { startedAt, status, conclusion, summary } = progress;
  const check = { name, status, conclusion, startedAt, url: undefined, summary };
  for (let attempts = 0; ; attempts += 1) {
    try {
      await app.queues.run(found.id, () => ({
        kind: 'check_reported',
        at: app.clock.now(),
        candidate: candidate.number,
        check,
      }));
      return;
    } catch (error) {
      if (!(error instanceof Fault) || stop.aborted) throw error;
      app.log.warn({ err: error, check: name }, 'could not report a check; trying again');
      await pause(app.clock, backoffMs(attempts, INSIST));
    }
  }
}
