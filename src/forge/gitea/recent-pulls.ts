import type { PrNumber } from '../../engine/pull-request.ts';
import { pause, type Timing } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GiteaClient } from './api/client.ts';
import type { PullData } from './api/data.ts';
import { findPull, listRecent } from './facts.ts';

/** Reads pull requests some time after a landing. Those that are asked for in the meantime share one request. */
export interface LandedPulls {
  find(repository: ForgeRepository, number: PrNumber): Promise<PullData | undefined>;
}

interface Gathering {
  readonly numbers: Set<PrNumber>;
  readonly open: Promise<ReadonlyMap<PrNumber, PullData>>;
}

/** After a push, Gitea computes for so long what can be merged, and marks nothing meanwhile. */
const COMPUTING_MS = 1_500;

export function createLandedPulls(client: GiteaClient, clock: Timing): LandedPulls {
  const gatherings = new Map<string, Gathering>();

  async function read(repository: ForgeRepository, numbers: ReadonlySet<PrNumber>) {
    await pause(clock, COMPUTING_MS);
    gatherings.delete(repository.id);
    return numbers.size > 1 ? listRecent(client, repository) : new Map<PrNumber, PullData>();
  }

  return {
    async find(repository, number) {
      const numbers = new Set<PrNumber>();
      const gathering = gatherings.get(repository.id) ?? { numbers, open: read(repository, numbers) };
      gatherings.set(repository.id, gathering);
      gathering.numbers.add(number);
      return (await gathering.open).get(number) ?? findPull(client, repository, number);
    },
  };
}
