import type { Job, JobCache, JobEnd, LeftFile, LeftFiles } from '../../check-runner/runner.ts';
import type { RunnerCheck } from '../../checks/check.ts';
import { type Selection, selectedNothing } from '../../checks/selects/select-tests.ts';
import type { CheckConclusion } from '../../engine/model/check.ts';
import type { Forge } from '../../forge/forge.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import { pause } from '../../lib/clock.ts';
import { createMasker, type Masker } from '../../lib/mask.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { giveSecrets } from '../repositories/secrets.ts';
import { OutputSigns } from './output-signs.ts';

const DEFAULT_TIMEOUT_MINUTES = 60;
/** When the machine shuts down, the server also gets its stop signal within this time. */
const SHUTDOWN_MS = 1_000;

/** A check on a commit. */
export interface CheckJob extends Pick<Job, 'share' | 'rank' | 'variables' | 'onStart' | 'onOutput' | 'reports'> {
  readonly app: Pick<App, 'checkRunner' | 'clock' | 'store' | 'webhooks'>;
  readonly forge: Forge;
  readonly repository: ForgeRepository;
  readonly sha: Sha;
  readonly check: RunnerCheck;
  /** The commit is the landed head of the branch. */
  readonly isLanded: boolean;
  /** Absent: it begins as without a cache, and leaves none. */
  readonly caching?: Caching;
  /** Of a probe: the tests that run. */
  readonly selection?: Selection | undefined;
}

/** Only commits of the target branch `store` and `fill`. */
export type Caching = Pick<JobCache, 'branch' | 'use' | 'onHit' | 'onKept'>;

export interface CheckEnd {
  /** Undefined where there is no result. */
  readonly conclusion: CheckConclusion | undefined;
  readonly text: string;
}

/** Runs it in its turn, and says how it ended. */
export async function runJob(job: CheckJob, stop: AbortSignal): Promise<CheckEnd> {
  const { app, forge, repository, sha, check } = job;
  const { checkRunner, clock } = app;
  const timeoutMinutes = check.timeoutMinutes ?? DEFAULT_TIMEOUT_MINUTES;
  const signs = new OutputSigns();
  const secrets = await giveSecrets(app, job);
  const masker = createMasker(Object.values(secrets.variables));
  let startedAt = clock.now();
  const put = async (bytes: Buffer) => {
    if (bytes.length > 0) await job.onOutput(bytes);
  };
  const run = checkRunner.run(
    {
      ...job,
      command: commandOf(check),
      args: job.selection?.args ?? [],
      timeoutMs: timeoutMinutes * 60_000,
      network: check.network === true,
      userNamespaces: check.userNamespaces === true,
      variables: { ...check.env, ...secrets.variables, ...commandVariables(check), ...job.variables },
      ...present({ tools: check.tools, cache: cacheOf(job) }),
      prepare: ({ folder, isIsolated }) => forge.checkOut({ repository, sha, folder, isIsolated }),
      onStart: async () => {
        startedAt = clock.now();
        await job.onStart();
        for (const note of secrets.notes) await put(Buffer.from(`[Sluice] ${note}\n`));
      },
      ...maskedReports(job, masker, put),
      onOutput: (bytes) => {
        signs.read(bytes);
        return put(masker.mask(bytes));
      },
    },
    stop,
  );
  const end = await withoutShutdown(job, await run, stop);
  await put(masker.end());
  const nothing = describeNothing(end, job.selection);
  if (nothing !== undefined) return nothing;
  signs.read(Buffer.from('\n'));
  const { conclusion, text } = describeEnd(end, { timeoutMinutes, ranMs: Math.max(0, clock.now() - startedAt) });
  return { conclusion, text: text + (await remedyFor(job, end, signs)) };
}

/** The last output of the command comes before the lines on its reports. */
// SPEC R98
function maskedReports({ reports }: CheckJob, masker: Masker, put: CheckJob['onOutput']): Pick<Job, 'reports'> {
  if (reports === undefined) return {};
  const begin = async () => {
    await put(masker.end());
    return (await reports.begin?.()) ?? true;
  };
  const take = (left: LeftFiles) =>
    reports.take({ ...left, files: left.files.map((file) => maskedFile(file, masker)) });
  return { reports: { ...reports, begin, take } };
}

function maskedFile(file: LeftFile, masker: Masker): LeftFile {
  return {
    ...file,
    async *read() {
      for await (const bytes of file.read()) yield masker.mask(bytes);
      yield masker.end();
    },
  };
}

// SPEC R82
function cacheOf({ check, repository, caching }: CheckJob): JobCache | undefined {
  const { cache, name, prepare, env } = check;
  if (cache === undefined || caching === undefined) return undefined;
  const { key, paths, verified = false, result = false } = cache;
  return {
    ...{ ...caching, repository: repository.id, check: name, key, paths, isVerified: verified },
    // SPEC R83
    inputs: result ? [JSON.stringify({ prepare, env })] : [],
  };
}

function isClosedFor({ checkRunner }: Pick<App, 'checkRunner'>, { network }: RunnerCheck): boolean {
  return checkRunner.safety.closesNetwork && network !== true;
}

/** The first lines of a log. Readers of a failed download need to know of the network. */
export function jobHeading(app: Pick<App, 'checkRunner'>, check: RunnerCheck, where: string): string {
  const closed = isClosedFor(app, check) ? `, without network (${OPENS_NETWORK})` : '';
  const without = check.cache === undefined ? undefined : whyWithoutCache(app);
  const cache = without === undefined ? '' : `, without its cache (${without})`;
  const commands = [check.prepare, check.command].flatMap((line) => (line === undefined ? [] : `[Sluice] $ ${line}\n`));
  return `[Sluice] "${check.name}" on ${where}${closed}${cache}\n${commands.join('')}`;
}

// SPEC R86
function whyWithoutCache({ checkRunner }: Pick<App, 'checkRunner'>): string | undefined {
  if (!checkRunner.safety.closesNetwork) return 'only a sandbox has one';
  return checkRunner.caches.limitBytes === 0 ? 'SLUICE_CACHE_BYTES is 0' : undefined;
}

/** A shell gets each command as it is written, and the second only after the first passed. */
const PREPARED =
  '/bin/sh -c "$SLUICE_PREPARE" || { code=$?; echo "[Sluice] prepare failed with exit code $code"; exit $code; }; exec /bin/sh -c "$SLUICE_RUN" /bin/sh "$@"';

// SPEC R83
const PREPARED_BEFORE =
  'if [ "$SLUICE_CACHE_HIT" = exact ]; then echo "[Sluice] prepare is skipped: the cache holds its result"; exec /bin/sh -c "$SLUICE_RUN" /bin/sh "$@"; fi; ';

function commandOf({ command, prepare, cache }: RunnerCheck): string {
  if (prepare === undefined) return command;
  return cache?.result === true ? PREPARED_BEFORE + PREPARED : PREPARED;
}

// SPEC R64
function commandVariables({ prepare, command }: RunnerCheck): Readonly<Record<string, string>> {
  return prepare === undefined ? {} : { SLUICE_PREPARE: prepare, SLUICE_RUN: command };
}

/** A shutdown of the machine kills checks and servers in any order: such an end of a check is no result. */
async function withoutShutdown({ app }: CheckJob, end: JobEnd, stop: AbortSignal): Promise<JobEnd> {
  if (end.kind !== 'killed' || CRASHES.has(end.signal)) return end;
  await pause(app.clock, SHUTDOWN_MS);
  return stop.aborted ? { kind: 'stopped' } : end;
}

/** The likely reason of a failure, and what helps. */
// SPEC R50, R65
async function remedyFor(
  { app, check }: CheckJob,
  end: JobEnd,
  { isOffline, missing, closed }: OutputSigns,
): Promise<string> {
  if (end.kind !== 'exited' || end.code === 0) return '';
  const lacks = async () => {
    const found = missing === undefined ? '' : ` Its output says that ${missing} was not found.`;
    return `${found} ${await app.checkRunner.explainMissing(missing)}`;
  };
  if (end.code === NOT_FOUND) return lacks();
  if (isOffline && isClosedFor(app, check))
    return ` It ran in a sandbox without network, and its output tells of a network error: ${OPENS_NETWORK}.`;
  if (missing !== undefined) return lacks();
  if (closed === undefined) return '';
  return ` It wrote ${closed === '' ? '' : `to ${closed}, `}where a check cannot: its work tree, $HOME and $TMPDIR are its own.`;
}

/** Signals that a crashing program causes itself. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);

const NOT_FOUND = 127;
const OPENS_NETWORK = 'network: true in .sluice.yaml, or --check-network, opens it';

/** The exit codes of a shell that could not run the command. */
const SHELL_CODES: { readonly [code: number]: string } = {
  126: ' (a command cannot be executed)',
  [NOT_FOUND]: ' (a command was not found)',
};

// SPEC R103
function describeNothing(end: JobEnd, selection: Selection | undefined): CheckEnd | undefined {
  if (end.kind !== 'exited' || selection === undefined || !selectedNothing(selection, end.code)) return undefined;
  return { conclusion: 'SUCCESS', text: 'None of the tests that it asks for is there.' };
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
    case 'out_of_memory':
      return {
        conclusion: 'ERROR',
        text: `Killed ${after}: it needed more than ${end.memory} of memory (SLUICE_RUNNER_MEMORY).`,
      };
    case 'impossible':
      return { conclusion: 'FAILURE', text: end.problem };
    case 'stopped':
      return { conclusion: undefined, text: `Stopped ${after}: its result is not needed here any more.` };
  }
}
