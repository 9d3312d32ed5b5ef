import type { PrNumber } from '../../engine/model/pull-request.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { type Instant, pause } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import { keyOf as repositoryKey } from '../hosted/repository-key.ts';
import type { RepositoryName, SettleRequest, WebhookHint } from '../hosting.ts';
import type { PullData } from './api/data.ts';
import { type FactsTools, findPull, listRecent } from './facts.ts';

/** Knows pull requests as their landing read them, and reads the others. */
export interface LandedPulls {
  /** Keeps a pull request as it was right before the push of its landing. */
  keep(repository: ForgeRepository, pull: PullData): void;
  /** A webhook that names another head makes it read again. */
  observe(hint: WebhookHint): void;
  /** Answers some time after the landing. Those that have to be read in the meantime share one request. */
  find(request: Asked): Promise<PullData | undefined>;
}

type Asked = Pick<SettleRequest, 'repository' | 'number' | 'headSha'>;

interface Kept {
  readonly pull: PullData;
  readonly at: Instant;
}

interface Gathering {
  readonly numbers: Set<PrNumber>;
  readonly open: Promise<ReadonlyMap<PrNumber, PullData>>;
}

/** After a push, Gitea computes for so long what can be merged, and marks nothing meanwhile. */
const COMPUTING_MS = 3_000;
/** A settling begins with a page update, so that a part of that time is over. */
const GATHER_MS = 1_500;
const KEPT_MS = 10_000;
const MAX_KEPT = 1_000;

export function createLandedPulls(tools: FactsTools): LandedPulls {
  const { client, clock } = tools;
  const kept = new BoundedCache<string, Kept>(MAX_KEPT);
  const gatherings = new Map<string, Gathering>();

  async function read(repository: ForgeRepository, numbers: ReadonlySet<PrNumber>) {
    await pause(clock, GATHER_MS);
    gatherings.delete(repository.id);
    return numbers.size > 1 ? listRecent(tools, repository) : new Map<PrNumber, PullData>();
  }

  async function findKept({ repository, number, headSha }: Asked): Promise<PullData | undefined> {
    const key = keyOf(repository, number);
    const known = kept.find(key);
    if (known === undefined) return undefined;
    const isUsable =
      clock.now() - known.at <= KEPT_MS && known.pull.state === 'open' && known.pull.head.sha === headSha;
    if (isUsable) await pause(clock, Math.max(0, known.at + COMPUTING_MS - clock.now()));
    const isPresent = kept.find(key) === known;
    // It counts once: an attempt that failed is repeated with what Gitea says then.
    if (isPresent) kept.delete(key);
    return isUsable && isPresent ? known.pull : undefined;
  }

  return {
    keep(repository, pull) {
      kept.set(keyOf(repository, pull.number), { pull, at: clock.now() });
    },

    observe(hint) {
      if (hint.kind !== 'pull_request' || hint.headSha === undefined) return;
      const key = keyOf(hint, hint.number);
      if (kept.find(key)?.pull.head.sha !== hint.headSha) kept.delete(key);
    },

    async find(request) {
      const known = await findKept(request);
      if (known !== undefined) return known;
      const { repository, number } = request;
      const numbers = new Set<PrNumber>();
      const gathering = gatherings.get(repository.id) ?? { numbers, open: read(repository, numbers) };
      gatherings.set(repository.id, gathering);
      gathering.numbers.add(number);
      return (await gathering.open).get(number) ?? findPull(client, repository, number);
    },
  };
}

function keyOf(repository: RepositoryName, number: PrNumber): string {
  return `${repositoryKey(repository)} ${number}`;
}
