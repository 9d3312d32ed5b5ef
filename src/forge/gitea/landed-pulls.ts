import type { PrNumber } from '../../engine/pull-request.ts';
import { BoundedCache } from '../../git/bounded-cache.ts';
import { type Instant, pause } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import type { SettleRequest } from '../hosting.ts';
import type { PullData } from './api/data.ts';
import { type FactsTools, findPull, listRecent } from './facts.ts';

/** Knows pull requests as their landing read them, and reads the others. */
export interface LandedPulls {
  /** Keeps a pull request as it was right before the push of its landing. */
  keep(repository: ForgeRepository, pull: PullData): void;
  /** Answers some time after the landing. Those that have to be read in the meantime share one request. */
  find(request: Pick<SettleRequest, 'repository' | 'number' | 'headSha'>): Promise<PullData | undefined>;
}

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

  /** It counts once: an attempt that failed is repeated with what Gitea says then. */
  function take({ id }: ForgeRepository, number: PrNumber): Kept | undefined {
    const found = kept.find(keyOf(id, number));
    kept.delete(keyOf(id, number));
    return found !== undefined && clock.now() - found.at <= KEPT_MS ? found : undefined;
  }

  return {
    keep({ id }, pull) {
      kept.set(keyOf(id, pull.number), { pull, at: clock.now() });
    },

    async find({ repository, number, headSha }) {
      const known = take(repository, number);
      if (known?.pull.state === 'open' && known.pull.head.sha === headSha) {
        await pause(clock, Math.max(0, known.at + COMPUTING_MS - clock.now()));
        return known.pull;
      }
      const numbers = new Set<PrNumber>();
      const gathering = gatherings.get(repository.id) ?? { numbers, open: read(repository, numbers) };
      gatherings.set(repository.id, gathering);
      gathering.numbers.add(number);
      return (await gathering.open).get(number) ?? findPull(client, repository, number);
    },
  };
}

function keyOf(id: string, number: PrNumber): string {
  return `${id} ${number}`;
}
