import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { WorkflowRunFacts } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { withSmallHost } from '../core/directory.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { type Answer, type Refusal, refuse } from '../core/refusal.ts';

/** The claim of a fork's CI. It has no token, because GitHub gives secrets to no workflow of a fork. */
interface ForkClaim {
  readonly repo: RepositoryRef;
  readonly runId: string;
  readonly prNumber: PrNumber;
  readonly sha: Sha;
}

/** Every proof costs calls to the forge that landings may need, and anybody can ask for one. */
const MAX_AT_ONCE = 4;
const MAX_A_MINUTE = 20;
/** A refused claim is refused again without a call. */
const REFUSED_MS = 30_000;
const MAX_REMEMBERED = 1_000;

/** Accepts a workflow run that is live, and was started by a pull request of this repository at this commit. */
export class ForkProofs {
  readonly #app: App;
  readonly #refused = new Map<string, Instant>();
  #running = 0;
  /** Recent proofs by repository. */
  readonly #recent = new Map<string, readonly Instant[]>();

  constructor(app: App) {
    this.#app = app;
  }

  /** One for each organization that has the repository. It may set impacted targets there, and nothing else. */
  async prove(claim: ForkClaim): Answer<readonly Caller[]> {
    const repo = withSmallHost(claim.repo);
    const { host, owner, name } = repo;
    const key = JSON.stringify([host, owner, name, claim.runId, claim.prNumber, claim.sha]);
    if (this.#isRefused(key)) return notProven(claim);
    const hosting = this.#app.forges.get(host)?.hosting;
    const named = hosting?.findWorkflowRun === undefined ? [] : await this.#app.directory.findRepositoriesAt(repo);
    const repositories = named.filter(({ blockedReason }) => blockedReason === null);
    const [repository] = repositories;
    if (hosting?.findWorkflowRun === undefined || repository === undefined) return notProven(claim);
    if (!this.#mayAsk(repository))
      return refuse('RATE_LIMITED', 'Too many workflow runs are being proven. Try again in a moment.');
    this.#running += 1;
    try {
      const run = await hosting.findWorkflowRun(toForgeRepository(repository), claim.runId);
      if (run !== undefined && isAsClaimed(run, claim)) return await this.#callersFor(repositories, claim.runId);
    } finally {
      this.#running -= 1;
    }
    this.#remember(key);
    return notProven(claim);
  }

  async #callersFor(repositories: readonly Repository[], runId: string): Promise<readonly Caller[]> {
    const callers: Caller[] = [];
    for (const { id, organizationId } of repositories) {
      const organization = await this.#app.store.accounts.findOrganizationById(organizationId);
      if (organization === undefined) continue;
      const scopes = new Set(['targets'] as const);
      callers.push({ organization, tokenId: '', name: `workflow run ${runId}`, scopes, repositoryIds: new Set([id]) });
    }
    return callers;
  }

  // SPEC G153
  #mayAsk({ id }: Repository): boolean {
    const now = this.#app.clock.now();
    // Instants in the future do not count: a clock that was set back must not lock everybody out.
    const recent = (this.#recent.get(id) ?? []).filter((at) => at > now - 60_000 && at <= now);
    if (this.#running >= MAX_AT_ONCE || recent.length >= MAX_A_MINUTE) return false;
    this.#recent.set(id, [...recent, now]);
    return true;
  }

  #isRefused(key: string): boolean {
    const at = this.#refused.get(key);
    return at !== undefined && Math.abs(this.#app.clock.now() - at) < REFUSED_MS;
  }

  #remember(key: string): void {
    if (this.#refused.size >= MAX_REMEMBERED) this.#refused.clear();
    this.#refused.set(key, this.#app.clock.now());
  }
}

// SPEC G66
function isAsClaimed(run: WorkflowRunFacts, { prNumber, sha }: ForkClaim): boolean {
  return run.event === 'pull_request' && run.isLive && run.headSha === sha && run.prNumbers.includes(prNumber);
}

/** The same answer for unknown and for mismatched: it must not reveal which repositories exist. */
// SPEC G152
function notProven({ runId, prNumber, sha }: ForkClaim): Refusal {
  return refuse(
    'FORK_RUN_NOT_PROVEN',
    `No workflow run ${runId} that a pull_request event started for #${prNumber} at ${sha} runs in this repository now. ` +
      'Send the id of the run that makes this request, and the head commit of its pull request.',
  );
}
