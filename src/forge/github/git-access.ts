import { isAccessProblem } from '../../git/complaint.ts';
import type { Git, GitRepository, GitSource } from '../../git/git.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { listMissing } from '../candidate/commits.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient, ResolvedRepository } from './api/client.ts';
import { another } from './api/unavailable.ts';

/** Git over https, with the tokens of the client. */
export interface GitAccess {
  /** The repository as it is copied here so far: nothing is fetched before the question, except what it fetches. */
  ask<Answer>(repository: ForgeRepository, question: (git: GitRepository) => Promise<Answer>): Promise<Answer>;
  /** Why git cannot reach it, or undefined when it can. */
  findProblem(repository: ForgeRepository): Promise<string | undefined>;
}

/** All branches and pull requests of a large repository would be a hundred times what a queue needs. */
const SCOPE = ['refs/sluice/*'];

export function createGitAccess(git: Git, client: GithubClient): GitAccess {
  const { webUrl } = client.connection;
  /** What each repository was asked with last. */
  const tokens = new Map<string, string>();

  /** Nothing is read from, or shown to, another repository that has its name. */
  async function resolveOwn(repository: ForgeRepository): Promise<ResolvedRepository> {
    const { forgeId } = repository;
    const known = await client.resolve(repository);
    if (forgeId === undefined || forgeId === String(known.id)) return known;
    // What was learned minutes ago may be what has changed.
    client.forget(repository.owner, repository.name);
    const found = await client.resolve(repository);
    if (forgeId !== String(found.id)) throw another(repository, String(found.id));
    return found;
  }

  /** Git follows no redirects with a token: it is told what the repository is called now. */
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

  /** Name, installation or token may be others by now. */
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
 * Commits by their names. GitHub hands out every commit of the repository and its forks that way: also of a pull request
 * whose ref lags behind, and of one that was forced away; and there is no ref here that would have to be removed.
 */
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
