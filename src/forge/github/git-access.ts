import { isAccessProblem } from '../../git/complaint.ts';
import type { Git, GitRepository, GitSource } from '../../git/git.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { listMissing } from '../candidate/commits.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient, ResolvedRepository } from './api/client.ts';
import { another } from './api/unavailable.ts';

/** Git over https, with the client's tokens. */
export interface GitAccess {
  /** Opens the local copy without a fetch. The callback fetches what it needs. */
  ask<Answer>(repository: ForgeRepository, question: (git: GitRepository) => Promise<Answer>): Promise<Answer>;
  /** Answers why git cannot reach the repository, or undefined when it can. */
  findProblem(repository: ForgeRepository): Promise<string | undefined>;
}

/**
 * A queue needs about a hundredth of the branches and pull requests of a large repository, so only its own refs are
 * mirrored.
 */
const SCOPE = ['refs/sluice/*'];

// SPEC G1
export function createGitAccess(git: Git, client: GithubClient): GitAccess {
  const { webUrl } = client.connection;
  /** The token that was last used for each repository. */
  const tokens = new Map<string, string>();

  /** Refuses another repository that has taken over the name. */
  async function resolveOwn(repository: ForgeRepository): Promise<ResolvedRepository> {
    const { forgeId } = repository;
    const known = await client.resolve(repository);
    if (forgeId === undefined || forgeId === String(known.id)) return known;
    // The cached name may be outdated.
    client.forget(repository.owner, repository.name);
    const found = await client.resolve(repository);
    if (forgeId !== String(found.id)) throw another(repository, String(found.id));
    return found;
  }

  /** Git does not follow redirects with a token, so the URL has the present name. */
  async function sourceOf(repository: ForgeRepository): Promise<GitSource> {
    const { owner, name } = await resolveOwn(repository);
    const authorize = async () => {
      const token = await client.installationToken({ owner, name });
      tokens.set(repository.id, token);
      return `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
    };
    const url = `${webUrl}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}.git`;
    const isHttpAllowed = webUrl.startsWith('http://');
    return { id: repository.id, location: { kind: 'url', url, authorize, scope: SCOPE, isHttpAllowed } };
  }

  /** The name, the installation or the token may have changed. */
  async function drop(repository: ForgeRepository): Promise<void> {
    const token = tokens.get(repository.id);
    try {
      if (token !== undefined) await client.dropToken(repository, token);
    } finally {
      client.forget(repository.owner, repository.name);
    }
  }

  return {
    async ask(repository, question) {
      const opened = await git.open(await sourceOf(repository));
      try {
        return await question(opened);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'FORGE_UNAVAILABLE') throw error;
        opened.forget();
        if (isAccessProblem(error.detail)) await drop(repository);
        throw error;
      }
    },

    async findProblem(repository) {
      return git.findProblem(await sourceOf(repository));
    },
  };
}

/**
 * Fetches commits by id. GitHub serves every commit of the repository and its forks this way, including a head whose
 * pull request ref lags behind and one that was forced away. No local ref is left to clean up.
 */
// SPEC G5
export async function fetchMissing(
  git: GitRepository,
  shas: readonly Sha[],
  refs: readonly string[] = [],
): Promise<readonly Sha[]> {
  const missing = await listMissing(git, shas);
  if (missing.length === 0) return [];
  await git.fetch([...refs, ...missing]);
  return listMissing(git, missing);
}
