import type { Timing } from '../../lib/clock.ts';
import { Remembered } from '../../lib/remembered.ts';
import { matchesStarred } from '../../lib/starred.ts';
import type { ForgeRepository } from '../forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import { encodePath } from '../hosted/rest-client.ts';
import type { GiteaClient } from './api/client.ts';
import type { BranchData, ProtectionData } from './api/data.ts';

export interface BranchRules {
  readonly branch: BranchData;
  /** Undefined for a branch without protection, or when the account may not read it. */
  readonly protection: ProtectionData | undefined;
}

export interface Rules {
  /** Up to a minute old. Undefined when the branch does not exist. */
  read(repository: ForgeRepository, branch: string): Promise<BranchRules | undefined>;
  /** Reads the branch now. */
  readBranch(repository: ForgeRepository, branch: string): Promise<BranchData | undefined>;
  forget(): void;
}

const KEPT_MS = 60_000;
const MAX_KEPT = 1_000;

// SPEC G124
export function createRules({ client, clock }: { readonly client: GiteaClient; readonly clock: Timing }): Rules {
  const known = new Remembered<BranchRules | undefined>({
    capacity: MAX_KEPT,
    maxAgeMs: KEPT_MS,
    now: () => clock.now(),
  });
  const readBranch = (repository: ForgeRepository, branch: string) =>
    client.find<BranchData>({ repository, path: `/branches/${encodePath(branch)}` });
  return {
    readBranch,
    read: (repository, branch) =>
      known.get(`${keyOf(repository)} ${branch}`, async () => {
        const found = await readBranch(repository, branch);
        return found && withProtection(client, repository, found);
      }),
    forget: () => known.forget(),
  };
}

async function withProtection(
  client: GiteaClient,
  repository: ForgeRepository,
  branch: BranchData,
): Promise<BranchRules> {
  const rule = branch.effective_branch_protection_name;
  if (!branch.protected || rule === '') return { branch, protection: undefined };
  const { status, data } = await client.request<ProtectionData>({
    repository,
    path: `/branch_protections/${encodeURIComponent(rule)}`,
    accept: [403, 404],
  });
  return { branch, protection: status === 200 ? data : undefined };
}

/** Contexts of a protection are patterns, in which a star matches slashes too. */
export function matchesContext(pattern: string, context: string): boolean {
  return matchesStarred([...pattern], [...context], {
    isStar: (piece) => piece === '*',
    matches: (piece, part) => piece === '?' || piece === part,
  });
}

/** The contexts that a protection requires. Undefined when it requires none, empty when all must have passed. */
export function requiredContexts({ protection, branch }: BranchRules): readonly string[] | undefined {
  const isOn = protection?.enable_status_check ?? branch.enable_status_check ?? false;
  return isOn ? (protection?.status_check_contexts ?? branch.status_check_contexts ?? []) : undefined;
}
