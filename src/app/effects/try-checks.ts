import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { LeftFiles } from '../../check-runner/runner.ts';
import type { RunnerCheck } from '../../checks/check.ts';
import { CONFIGURATION_FILE, checksOfFile, EVERYTHING } from '../../checks/file-checks.ts';
import { PROPOSAL_FILES, proposeChecks as proposalFrom } from '../../checks/propose-checks.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type { CheckProgress, tryChecks as operation, proposeChecks as proposal } from '../../contract/try-checks.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, findRepository, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { jobHeading, runJob } from '../effects/check-job.ts';
import { proveTriedHead, rememberTry } from '../queue/tried-head.ts';
import { explainBlockedChecks } from '../repositories/repositories.ts';

/** Tried in this order where no branch is named. */
const DEFAULT_BRANCHES = ['main', 'master'];
const BEAT_MS = 20_000;
/** Queues go first. */
const RANK = Number.MAX_SAFE_INTEGER;

/** Runs each check once on the head of the branch, as the queue would, and tells how it goes line by line. */
// SPEC R70
export async function tryChecks(app: App, caller: Caller, input: RequestOf<typeof operation>): Answer<Readable> {
  const found = await findTip(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, branch, sha } = found;
  const checks = await findChecks(app, repository, { sha, configuration: input.configuration });
  return isRefusal(checks) ? checks : new Try(app, caller, repository, { branch, sha, checks }).begin();
}

// SPEC R71
export async function proposeChecks(
  app: App,
  caller: Caller,
  input: RequestOf<typeof proposal>,
): Answer<ReplyOf<typeof proposal>> {
  const found = await findTip(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, branch, sha } = found;
  const place = { repository: toForgeRepository(repository), sha };
  const forge = getForge(app, repository.host);
  const texts = await Promise.all(
    PROPOSAL_FILES.map(async (path) => [path, await forge.readFile?.({ ...place, path })] as const),
  );
  const known = texts.flatMap(([path, bytes]) =>
    bytes === undefined ? [] : [[path, bytes.toString('utf8')] as const],
  );
  const { configuration = null, notes } = proposalFrom(new Map(known));
  return { branch, configuration, notes };
}

interface Tip {
  readonly repository: Repository;
  readonly branch: string;
  readonly sha: Sha;
}

async function findTip(app: App, caller: Caller, { repo, targetBranch }: RequestOf<typeof proposal>): Answer<Tip> {
  const repository = await findRepository(app, caller, repo);
  if (isRefusal(repository)) return repository;
  const branches = targetBranch === undefined ? DEFAULT_BRANCHES : [targetBranch];
  for (const branch of branches) {
    const sha = await getForge(app, repository.host).findBranchHead(toForgeRepository(repository), branch);
    if (sha !== undefined) return { repository, branch, sha };
  }
  return refuseField('/targetBranch', `names no branch: ${formatRef(repository)} has no ${branches.join(' and no ')}`);
}

async function findChecks(
  app: App,
  repository: Repository,
  { sha, configuration }: { readonly sha: Sha; readonly configuration: string | undefined },
): Answer<readonly RunnerCheck[]> {
  const isProposed = configuration !== undefined;
  const known = { ...repository, fileChecks: isProposed ? EVERYTHING : repository.fileChecks };
  const place = { repository: toForgeRepository(repository), sha, path: CONFIGURATION_FILE };
  const file = isProposed ? Buffer.from(configuration) : await getForge(app, repository.host).readFile?.(place);
  const checks = checksOfFile(known, file);
  if ('problem' in checks) return refuseProblem(checks.problem, isProposed);
  if (checks.length === 0) return refuseField('/repo', 'has no checks of the built-in runner');
  // Its commands are the caller's, as registered ones are.
  const blocked = explainBlockedChecks(app, isProposed ? { ...repository, fileChecks: null } : repository);
  return blocked === undefined ? checks : refuse('VALIDATION_FAILED', blocked, [{ path: '/repo', message: blocked }]);
}

function refuseProblem(problem: string, isProposed: boolean): Refusal {
  return refuse('VALIDATION_FAILED', problem, [{ path: isProposed ? '/configuration' : '/repo', message: problem }]);
}

interface Subject {
  readonly branch: string;
  readonly sha: Sha;
  readonly checks: readonly RunnerCheck[];
}

/** Ends with its reader. A slow reader slows the commands down. */
class Try {
  readonly #app: App;
  readonly #caller: Caller;
  readonly #repository: Repository;
  readonly #subject: Subject;
  readonly #stream = new PassThrough();
  readonly #stop = new AbortController();

  constructor(app: App, caller: Caller, repository: Repository, subject: Subject) {
    this.#app = app;
    this.#caller = caller;
    this.#repository = repository;
    this.#subject = subject;
  }

  begin(): Readable {
    this.#stream.once('close', () => this.#stop.abort());
    this.#beatLater();
    this.#runAll().catch((error: unknown) => this.#fail(error));
    return this.#stream;
  }

  async #runAll(): Promise<void> {
    const { branch, sha, checks } = this.#subject;
    const since = this.#app.clock.now();
    const failed: string[] = [];
    for (const check of checks) if (!(await this.#runOne(check))) failed.push(check.name);
    if (failed.length === 0) await this.#prove(since).catch((error: unknown) => this.#log(error));
    const at = `${branch} at ${sha.slice(0, 12)}`;
    const text = failed.length === 0 ? `${at} passes.` : `${at} fails ${failed.join(', ')}.`;
    await this.#write({ passed: failed.length === 0, text });
    this.#stream.end();
  }

  /** Checks and branch may have changed during the try: both are read again. */
  async #prove(since: Instant): Promise<void> {
    const [app, { branch, sha, checks }] = [this.#app, this.#subject];
    const ran = { since, at: app.clock.now() };
    rememberTry(app, this.#repository, branch, { sha, checks, ran });
    const found = await findQueue(app, this.#caller, { repo: this.#repository, targetBranch: branch });
    if (!isRefusal(found)) await proveTriedHead(app, found);
  }

  async #runOne(check: RunnerCheck): Promise<boolean> {
    const { branch, sha } = this.#subject;
    const app = this.#app;
    const { name } = check;
    const repository = toForgeRepository(this.#repository);
    const decoder = new StringDecoder('utf8');
    const { junit = this.#repository.junit } = check;
    const take = (left: LeftFiles) => this.#write({ check: name, output: `\n[Sluice] ${reportsText(left)}\n` });
    const job = {
      ...{ app, forge: getForge(app, repository.host), repository, sha, check },
      ...{ share: `try ${repository.id}`, rank: RANK, isLanded: true },
      caching: { branch, use: 'store' } as const,
      variables: {
        ...{ CI: 'true', SLUICE: 'true', SLUICE_REPOSITORY: formatRef(repository), SLUICE_CHECK: name },
        ...{ SLUICE_TARGET_BRANCH: branch, SLUICE_COMMIT: sha, SLUICE_BASE_COMMIT: sha },
      },
      onStart: () => this.#write({ check: name, output: jobHeading(app, check, `${branch}, commit ${sha}`) }),
      onOutput: (bytes: Buffer) => this.#write({ check: name, output: decoder.write(bytes) }),
      ...(junit.length === 0 ? {} : { reports: { globs: junit, take } }),
    };
    const { conclusion = 'CANCELLED', text } = await runJob(job, this.#stop.signal);
    await this.#write({ check: name, conclusion, text });
    return conclusion === 'SUCCESS';
  }

  async #write(line: CheckProgress): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted || this.#stream.write(`${JSON.stringify(line)}\n`)) return;
    await once(this.#stream, 'drain', { signal }).catch(() => undefined);
  }

  #log(error: unknown): error is Fault {
    if (error instanceof Fault) return true;
    this.#app.log.error({ err: error }, 'a try of checks failed');
    return false;
  }

  /** A proxy closes a connection that is silent. */
  #beatLater(): void {
    const cancel = this.#app.clock.after(BEAT_MS, () => {
      this.#stream.write('\n');
      this.#beatLater();
    });
    this.#stop.signal.addEventListener('abort', cancel, { once: true });
  }

  async #fail(error: unknown): Promise<void> {
    await this.#write({
      passed: false,
      text: this.#log(error) ? error.detail : 'The server failed; its log says more.',
    });
    this.#stream.end();
  }
}

function reportsText({ files, problems }: LeftFiles): string {
  const found =
    files.length === 0 ? 'No test report was left.' : `Test reports: ${files.map(({ name }) => name).join(', ')}.`;
  return [found, ...problems].join(' ');
}
