import type { PrNumber } from '../../engine/model/pull-request.ts';
import { pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { LandRequest } from '../forge.ts';
import type { OpenState } from '../hosted/adapter.ts';
import type { SettleRequest } from '../hosting.ts';
import type { MergeRequestData } from './api/data.ts';
import { findHead, type GitlabTools, isFork, listRequests } from './facts.ts';

export async function findOpenStates(
  { client }: GitlabTools,
  { repository, entries }: LandRequest,
): Promise<ReadonlyMap<PrNumber, OpenState>> {
  const numbers = entries.map(({ prNumber }) => prNumber);
  const listed = await listRequests(client, repository, numbers, { isUrgent: true });
  const stateOf = ({ state, target_branch: baseBranch }: MergeRequestData): OpenState =>
    state === 'merged' || state === 'closed' ? { state, baseBranch } : { state: 'open', baseBranch };
  return new Map([...listed].map(([number, request]) => [number, stateOf(request)]));
}

type Listed = Promise<ReadonlyMap<PrNumber, MergeRequestData>>;

interface Gathering {
  readonly numbers: Set<PrNumber>;
  readonly found: Listed;
}

/** GitLab looks for merged heads some time after a push. Those of one landing share a question meanwhile. */
const GATHER_MS = 2_000;

/** Closes what GitLab does not find in the target: what was squashed or rebased. */
// SPEC G184
export function createSettling(tools: GitlabTools): (request: SettleRequest) => Promise<void> {
  const { client, clock } = tools;
  const gatherings = new Map<string, Gathering>();

  async function read(repository: SettleRequest['repository'], numbers: ReadonlySet<PrNumber>): Listed {
    await pause(clock, GATHER_MS);
    gatherings.delete(repository.id);
    return listRequests(client, repository, [...numbers]);
  }

  function gather({ repository, number }: SettleRequest): Listed {
    const numbers = new Set<PrNumber>();
    const gathering = gatherings.get(repository.id) ?? { numbers, found: read(repository, numbers) };
    gatherings.set(repository.id, gathering);
    gathering.numbers.add(number);
    return gathering.found;
  }

  return async (request) => {
    const { repository, number, headSha, mergeMethod } = request;
    const found = (await gather(request)).get(number);
    // A head that moved has commits that did not land: it stays open.
    if (found === undefined || found.sha !== headSha) return;
    if (found.state === 'opened') {
      if (mergeMethod === 'MERGE_COMMIT')
        throw new Fault('FORGE_UNAVAILABLE', `GitLab does not show !${number} as merged yet.`);
      const path = `/merge_requests/${number}`;
      await client.request({ repository, method: 'PUT', path, body: { state_event: 'close' }, accept: [404] });
    }
    await deleteSource(tools, request, found);
  };
}

/** GitLab does so only where it merges itself. */
async function deleteSource(
  { client }: GitlabTools,
  { repository, headSha }: SettleRequest,
  request: MergeRequestData,
): Promise<void> {
  const branch = request.source_branch;
  if (request.force_remove_source_branch !== true || isFork(request)) return;
  const path = '/merge_requests';
  const query = { state: 'opened', target_branch: branch };
  const { items } = await client.readPage<MergeRequestData>({ repository, path, query });
  // A merge request that is based on it would lose its target.
  if (items.length > 0 || (await findHead(client, repository, branch)) !== headSha) return;
  const place = `/repository/branches/${encodeURIComponent(branch)}`;
  await client.request({ repository, method: 'DELETE', path: place, accept: [400, 403, 404, 405] });
}
