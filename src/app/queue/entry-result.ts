import { CONFIGURATION_FILE, checksOfFile } from '../../checks/file-checks.ts';
import type { EntryRecord } from '../../contract/entry.ts';
import type { View } from '../../contract/schema.ts';
import { type Candidate, isKept } from '../../engine/model/candidate.ts';
import { conflictOf } from '../../engine/model/place.ts';
import { type Entry, findEntry } from '../../engine/model/queue.ts';
import { entriesAbove } from '../../engine/model/stack.ts';
import type { Instant } from '../../lib/clock.ts';
import { makeHarmless } from '../../lib/harmless.ts';
import { present } from '../../lib/present.ts';
import type { LogKey, LogPart } from '../../storage/logs.ts';
import { explain } from '../../words/explain.ts';
import type { Beyond, Explanation, FailedCheck, FailedTest } from '../../words/explanation.ts';
import { type Excerpt, failureLines, ownFrame } from '../../words/failure-text.ts';
import { type Outcome, outcomeOf } from '../../words/result.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { findAnyEntry } from './find-entry.ts';

export type ResultView = NonNullable<View<typeof EntryRecord>['result']>;

const MAX_TESTS = 20;
const MAX_NAME = 300;
const MAX_MESSAGE = 800;
const MAX_LOG = 16_000;
const LOG_BYTES = 1024 * 1024;
const MAX_HUNKS = 20_000;
const MAX_FILES = 20;
const MAX_CHECKS = 10;
const MAX_COMMAND = 1_000;
const MAX_STACK = 100;

interface Told {
  readonly app: App;
  readonly found: FoundQueue;
  readonly entry: Entry;
  readonly beyond: Beyond;
  readonly now: Instant;
}

// SPEC E90, E92
export async function viewResult(told: Told): Promise<ResultView> {
  const { app, found, entry, beyond, now } = told;
  const explanation = explain(found.queue, entry, now, beyond);
  const { outcome, ...decision } = outcomeOf(found.queue, entry, explanation, beyond);
  const failed = (beyond.failed ?? []).filter(({ isWaived }) => !isWaived);
  const run = outcome === 'LANDED' ? undefined : beyond.last;
  const failing = outcome === 'LANDED' ? [] : await viewFailing(told, failed);
  const repro = run && (await viewRepro(told, run, failed));
  return {
    outcome,
    next: explanation.next,
    ...present({
      ...decision,
      command: commandFor(decision.mayRetry, explanation, repro),
      failing: failing.length > 0 ? failing : undefined,
      failingCount: failed.reduce((sum, check) => sum + Math.max(check.failing, check.tests.length), 0) || undefined,
      log: run && (await viewLog(app, candidateIdOf(found.id, run.number), failed[0])),
      repro,
      conflict: decision.cause === 'CONFLICT' ? await viewConflict(told) : undefined,
      stack: viewStack(told),
    }),
  };
}

function commandFor(mayRetry: Outcome['mayRetry'], { commands }: Explanation, repro: ResultView['repro']) {
  if (mayRetry?.when === 'CHANGED') return repro?.fetch;
  return mayRetry?.when === 'NOW' || mayRetry?.after === 'TARGETS' ? commands[0] : undefined;
}

type FailingView = NonNullable<ResultView['failing']>[number];

const KNOWN: { readonly [Kind in FailedTest['kind']]: FailingView['known'] } = {
  failed: 'NEW',
  flaky: 'FLAKY',
  broken: 'BROKEN',
  quarantined: 'QUARANTINED',
};

async function viewFailing(told: Told, failed: readonly FailedCheck[]): Promise<FailingView[]> {
  const all = failed.flatMap(({ name: check, tests }) => tests.map((test) => ({ ...test, check })));
  const views: FailingView[] = [];
  for (const { id, name, kind, file, check } of all.slice(0, MAX_TESTS)) {
    const failure = await readFailure(told, id);
    const untrusted = present({
      file: file && harmless(file, MAX_NAME),
      message: failure && harmless(failure, MAX_MESSAGE),
      frame: failure && ownFrame(harmless(failure, MAX_LOG))?.slice(0, MAX_NAME),
    });
    views.push({ id, check, known: KNOWN[kind], untrusted: { name: harmless(name, MAX_NAME), ...untrusted } });
  }
  return views;
}

/** The newest failure of the test on the test branch. */
async function readFailure({ app, found, beyond }: Told, testId: string): Promise<string | undefined> {
  const { id: repositoryId } = found.repository;
  const watermark = await app.store.tests.getWatermark(repositoryId);
  const of = { repositoryId, watermark, offset: 0, limit: 1, since: 0, branch: beyond.testBranch ?? null };
  const { runs } = await app.store.tests.listRuns({ ...of, testId, conclusion: 'FAILURE' });
  return runs[0]?.failureText ?? runs[0]?.failureSummary ?? undefined;
}

async function viewLog(app: App, candidateId: string, check: FailedCheck | undefined): Promise<ResultView['log']> {
  if (check === undefined) return undefined;
  const { name, url } = check;
  const log = await readLog(app, { candidateId, check: name });
  const text = cut(log?.text ?? '', MAX_LOG);
  return {
    check: name,
    isCut: log !== undefined && (log.isCut || text.length < log.text.length),
    ...present({ command: log && `sluice logs ${candidateId}` }),
    untrusted: { text, ...present({ url: url && harmless(url, MAX_NAME) }) },
  };
}

/** Of a log that is longer than what is read, the end counts where nothing looks like a failure before. */
async function readLog({ store: { logs } }: App, key: LogKey): Promise<Excerpt | undefined> {
  const part = await logs.read(key, 0, LOG_BYTES);
  if (part === undefined) return undefined;
  const excerpt = failureLines(decode(part), MAX_LOG);
  if (part.size <= LOG_BYTES) return excerpt;
  const end = excerpt.isFailure ? undefined : await logs.read(key, part.size - LOG_BYTES, LOG_BYTES);
  // The first line may be a part of one, in which no secret is known.
  return { ...(end === undefined ? excerpt : failureLines(decode(end).replace(/^.*\n/, ''), MAX_LOG)), isCut: true };
}

function decode({ bytes }: LogPart): string {
  return makeHarmless(new TextDecoder().decode(bytes));
}

async function viewRepro(told: Told, run: Candidate, failed: readonly FailedCheck[]): Promise<ResultView['repro']> {
  const { commit, number } = run;
  if (commit === undefined || !isKept(run)) return undefined;
  const commands = failed.length === 0 ? new Map<string, string>() : await readCommands(told, run);
  return {
    sha: commit.sha,
    fetch: `git fetch origin refs/sluice/candidates/${candidateIdOf(told.found.id, number)}`,
    checkout: `git checkout --detach ${commit.sha}`,
    checks: failed.slice(0, MAX_CHECKS).map(({ name }) => ({ name, ...present({ command: commands.get(name) }) })),
  };
}

async function readCommands({ app, found }: Told, { base }: Candidate): Promise<ReadonlyMap<string, string>> {
  const repository = toForgeRepository(found.repository);
  const { readFile } = getForge(app, repository.host);
  const isInFile = found.repository.fileChecks !== null && readFile !== undefined;
  const file = isInFile ? await readFile({ repository, sha: base.sha, path: CONFIGURATION_FILE }) : undefined;
  const checks = checksOfFile(found.repository, file);
  if ('problem' in checks) return new Map();
  const lines = checks.map(
    ({ name, prepare, command }) => [name, [prepare, command].filter(Boolean).join(' && ')] as const,
  );
  // A part of a command is no command.
  return new Map(lines.filter(([, command]) => cut(command, MAX_COMMAND) === command));
}

// SPEC E94
async function viewConflict({ app, found, entry, beyond }: Told): Promise<ResultView['conflict']> {
  const { queue } = found;
  const { pr, because } = entry;
  const number = conflictOf(entry) ?? (because.cause === 'CONFLICT' || because.files ? because.prNumber : undefined);
  const other = number === undefined ? undefined : await findAnyEntry(app, found, number);
  const sha = other?.pr.headSha ?? beyond.last?.base.sha ?? queue.head?.sha;
  const repository = toForgeRepository(found.repository);
  const question = sha && { repository, target: sha, head: pr.headSha, maxLength: MAX_HUNKS };
  // Without the commits there are still the names.
  const shown =
    question &&
    (await getForge(app, repository.host)
      .showConflict?.(question)
      .catch(() => undefined));
  const named = shown?.files ?? because.files ?? pr.conflictFiles ?? [];
  const whole = makeHarmless(shown?.text ?? '');
  const hunks = cut(whole, MAX_HUNKS);
  return {
    ...present({ prNumber: other && number, sha }),
    isCut: shown?.isCut === true || hunks.length < whole.length || named.length > MAX_FILES,
    untrusted: { files: named.slice(0, MAX_FILES).map((file) => harmless(file, MAX_NAME)), hunks },
  };
}

function viewStack({ found: { queue }, entry }: Told): ResultView['stack'] {
  const open = entry.pr.below?.filter(
    ({ number, isMerged, by }) => by !== 'ancestor' && isMerged !== true && findEntry(queue, number) !== undefined,
  );
  const below = open?.map(({ number }) => number).slice(0, MAX_STACK) ?? [];
  const above = entriesAbove(queue, entry.prNumber)
    .map(({ prNumber }) => prNumber)
    .slice(0, MAX_STACK);
  return below.length + above.length > 0 ? { below, above } : undefined;
}

// SPEC E91
function harmless(text: string, most: number): string {
  return cut(makeHarmless(text.slice(0, most + 100)), most);
}

/** At most so many bytes as JSON. */
function cut(text: string, most: number): string {
  let kept = text.slice(0, most);
  while (Buffer.byteLength(JSON.stringify(kept)) > most + 2) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept.toWellFormed();
}
