import { parseRepositoryUrl } from '../../flaky/identity/repository-url.ts';
import { type Checkout, readCheckout } from '../../git/read-checkout.ts';
import { Fault } from '../../lib/fault.ts';
import type { RepoRef } from './arguments.ts';
import { usageError } from './exit.ts';

/** The work tree around the current folder; undefined if there is none, or git is missing. */
export async function findCheckout(): Promise<Checkout | undefined> {
  try {
    return await readCheckout(process.cwd());
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The named repository, else that of the work tree around the current folder. */
export async function chooseRepo(named: RepoRef | undefined): Promise<RepoRef> {
  return named ?? repoOf(await findCheckout());
}

export function repoOf(checkout: Checkout | undefined): RepoRef {
  const url = checkout?.originUrl ?? '';
  const repo = parseRepositoryUrl(url);
  if (repo !== undefined) return repo;
  const found =
    checkout === undefined
      ? 'This folder is in no git work tree that would tell it'
      : url === ''
        ? 'The git work tree here has no remote "origin" that would tell it'
        : 'The remote "origin" here is no address of a repository on a host';
  throw usageError(`Say which repository: --repo host/owner/name. ${found}.`);
}

/** The named organization, else SLUICE_ORG, else the one that every server creates. */
export function chooseOrg(named: string | undefined): string {
  return named ?? (process.env['SLUICE_ORG'] || 'default');
}

export const ORG_TEXT = 'The slug of the organization. Else SLUICE_ORG, else default.';
export const REPO_OPTION_TEXT =
  'The repository as host/owner/name. Else that of the remote "origin" of the git work tree here.';
