import { isAccessProblem } from '../../git/complaint.ts';
import type { Git, GitRepository, GitSource } from '../../git/git.ts';
import { Fault } from '../../lib/fault.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { type CommitAccess, listMissing } from '../candidate/commits.ts';
import type { ForgeRepository } from '../forge.ts';
import type { RepositoryIdentity } from '../hosting.ts';
import type { HostedRemote } from './adapter.ts';

/** Git over https, with the tokens of the forge. */
export interface GitAccess extends CommitAccess {
  /** Answers why git cannot reach the repository, or undefined when it can. */
  findProblem(repository: ForgeRepository): Promise<string | undefined>;
}

/** A queue needs a hundredth of the refs of a large repository, so that only its own are mirrored. */
const SCOPE = ['refs/sluice/*'];

// SPEC G1
export function createGitAccess(git: Git, remote: HostedRemote): GitAccess {
  const { webUrl, title } = remote;
  /** The token that was last used for each repository. */
  const tokens = new Map<string, string>();

  /** Refuses another repository that has taken over the name. */
  async function resolveOwn(repository: ForgeRepository): Promise<RepositoryIdentity> {
    const { forgeId } = repository;
    const known = await remote.resolve(repository);
    if (forgeId === undefined || forgeId === known.forgeId) return known;
    // The cached name may be outdated.
    await remote.forget(repository, undefined);
    const found = await remote.resolve(repository);
    if (forgeId !== found.forgeId) throw another(repository, { title, id: found.forgeId });
    return found;
  }

  /** Git does not follow redirects with a token, so the URL has the present name. */
  async function sourceOf(repository: ForgeRepository): Promise<GitSource> {
    const { owner, name } = await resolveOwn(repository);
    const pushBy = await remote.pushBy?.(repository);
    const authorize = async () => {
      const { user, token } = await remote.authorize({ owner, name });
      tokens.set(repository.id, token);
      return `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
    };
    const url = `${webUrl}/${owner.split('/').map(encodeURIComponent).join('/')}/${encodeURIComponent(name)}.git`;
    const isHttpAllowed = webUrl.startsWith('http://');
    const keyed = pushBy && { ...pushBy, hostsFile: `${pushBy.keyFile}.known_hosts` };
    const location = { url, authorize, scope: SCOPE, isHttpAllowed, ...present({ pushBy: keyed }) };
    return { id: repository.id, location: { kind: 'url', ...location } };
  }

  return {
    obtain: (opened, shas) => fetchMissing(opened, shas),
    /** Opens the local copy without a fetch. */
    async ask(repository, question) {
      const opened = await git.open(await sourceOf(repository));
      try {
        return await question(opened);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'FORGE_UNAVAILABLE') throw error;
        opened.forget();
        // The name, the permission or the token may have changed.
        if (isAccessProblem(error.detail)) await remote.forget(repository, tokens.get(repository.id));
        throw error;
      }
    },

    async findProblem(repository) {
      return git.findProblem(await sourceOf(repository));
    },
  };
}

/** The repository was deleted or renamed, and another one that is not registered here has its name. */
function another(
  { owner, name, forgeId }: ForgeRepository,
  { title, id }: { readonly title: string; readonly id: string },
): Fault {
  return new Fault(
    'FORGE_UNAVAILABLE',
    `${owner}/${name} is another repository now (number ${id} at ${title}) than the one that is known here (number ${forgeId}).`,
  );
}

/** Forges serve every commit by id, also a head that was forced away. No local ref is left to clean up. */
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
