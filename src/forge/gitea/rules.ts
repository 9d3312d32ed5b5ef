import { BoundedCache } from '../../git/bounded-cache.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import { matchesStarred } from '../../lib/starred.ts';
import type { ForgeRepository } from '../forge.ts';
import { encodePath, type GiteaClient, keyOf } from './api/client.ts';
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

interface Kept {
  readonly at: Instant;
  readonly rules: Promise<BranchRules | undefined>;
}

// SPEC G124
export function createRules({ client, clock }: { readonly client: GiteaClient; readonly clock: Timing }): Rules {
  let kept = new BoundedCache<string, Kept>(MAX_KEPT);
  const readBranch = (repository: ForgeRepository, branch: string) => askBranch(client, repository, branch);
  return {
    readBranch,
    read(repository, branch) {
      const key = `${keyOf(repository)} ${branch}`;
      const known = kept.find(key);
      if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.rules;
      const rules = readBranch(repository, branch).then((found) => found && withProtection(client, repository, found));
      const mine = kept;
      mine.set(key, { at: clock.now(), rules });
      rules.catch(() => {
        if (mine.find(key)?.rules === rules) mine.delete(key);
      });
      return rules;
    },
    forget() {
      kept = new BoundedCache(MAX_KEPT);
    },
  };
}

async function askBranch(
  client: GiteaClient,
  repository: ForgeRepository,
  branch: string,
): Promise<BranchData | undefined> {
  const path = `/branches/${encodePath(branch)}`;
  const { status, data } = await client.request<BranchData>({ repository, path, accept: [404] });
  return status === 404 ? undefined : data;
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
