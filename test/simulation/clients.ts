import type { App } from '../../src/app/core/app.ts';
import type { Caller } from '../../src/app/core/caller.ts';
import { findQueue } from '../../src/app/core/find-queue.ts';
import { isRefusal } from '../../src/app/core/refusal.ts';
import { findPullRequest, findTargets, observePullRequest, readTargetBranch } from '../../src/app/queue/forge-facts.ts';
import { reportCheck } from '../../src/app/queue/report-check.ts';
import { findEntry } from '../../src/engine/model/queue.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { OrganizationId } from '../../src/storage/accounts.ts';
import type { CiReport } from '../fake/fake-ci.ts';
import type { Hint } from '../fake/fake-repository.ts';
import type { Coverage } from './coverage.ts';
import { HOST, type Servers } from './servers.ts';
import type { SimWorld } from './sim-world.ts';

export const BRANCH = 'main';
export const REPO = { host: HOST, owner: 'acme', name: 'app' } as const;
export const QUEUE = { repo: REPO, targetBranch: BRANCH } as const;

export const ORGANIZATION = { id: 'org' as OrganizationId, slug: 'default', createdAt: 0 };
export const ADA: Caller = {
  organization: ORGANIZATION,
  tokenId: 'token',
  name: 'ada',
  scopes: new Set(['admin']),
  repositoryIds: null,
};

export interface ClientsOptions {
  readonly world: SimWorld;
  readonly servers: Servers;
  readonly random: Prng;
  readonly coverage: Coverage;
  readonly onBug: (error: unknown) => void;
}

const PATIENCE_MS = 8_000;
const TRIES = 4;

/** External callers. They ask any server, and retry without a usable answer. */
export class Clients {
  readonly #options: ClientsOptions;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  ask(call: (app: App) => Promise<unknown>, tries = TRIES): void {
    const { world, servers, random, coverage, onBug } = this.#options;
    if (tries === 0) return;
    const again = () => this.ask(call, tries - 1);
    const app = servers.pick();
    if (app === undefined) {
      world.schedule(random.between(500, 2_000), again);
      return;
    }
    const cancel = world.schedule(PATIENCE_MS, again);
    call(app).then(
      (answer) => {
        cancel();
        if (isRefusal(answer)) coverage.note(`refusal.${answer.code}`);
      },
      (error: unknown) => {
        cancel();
        if (!(error instanceof Fault)) onBug(error);
        world.schedule(random.between(100, 1_500), again);
      },
    );
  }

  /** CI reports everything once and ignores the answer. */
  report({ sha, candidateId, check }: CiReport): void {
    const isByName = candidateId !== undefined && this.#options.random.chance(0.5);
    const of = isByName ? { testRunId: candidateId } : { sha };
    this.ask((app) => reportCheck(app, ADA, { repo: REPO, of, check }), 1);
  }

  /** The forge sends a hint, and the server that receives it reads the forge. */
  notify(hint: Hint): void {
    this.ask((app) => look(app, hint), 1);
  }
}

async function look(app: App, hint: Hint): Promise<void> {
  const found = await findQueue(app, ADA, QUEUE);
  if (isRefusal(found)) return;
  if (hint.kind === 'branch_moved' && hint.branch === BRANCH) await readTargetBranch(app, found);
  if (hint.kind !== 'pull_request_changed') return;
  const { prNumber } = hint;
  const known = findEntry(found.queue, prNumber);
  if (known === undefined) return;
  const pr = await findPullRequest(app, found, prNumber);
  const isStacked = known.pr.below !== undefined || pr?.dependsOn !== undefined;
  if (isStacked) return void (await observePullRequest(app, found, known, pr));
  const targets = pr && (await findTargets(app, found.id, { prNumber, sha: pr.headSha }));
  await app.queues.run(found.id, (queue) => {
    if (findEntry(queue, prNumber)?.pr !== known.pr) return undefined;
    return { kind: 'pull_request_observed', at: app.clock.now(), prNumber, pr, targets };
  });
}
