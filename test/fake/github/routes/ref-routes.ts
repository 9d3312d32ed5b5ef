import type { Ask, Route } from '../exchange.ts';
import { findCommit, isAncestor, isRefName } from '../git.ts';
import type { Repository, World } from '../model.ts';
import { isStraight, pushBlock } from '../pushes.ts';
import { moveRefs, type RefChange, ZEROS } from '../refs.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { fullNameOf, inTurn, nodeId } from '../world.ts';
import { actorOf, bodyOf, created, need, nothing, ok, type Params, repositoryOf, requiredText } from './tools.ts';

const READ = need('contents', 'read');
const WRITE = need('contents', 'write');

export const refRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}/git/ref/{ref}', handle: getRef },
  { method: 'GET', path: '/repos/{owner}/{repo}/git/matching-refs/{ref}', handle: listRefs },
  { method: 'POST', path: '/repos/{owner}/{repo}/git/refs', handle: createRef },
  { method: 'PATCH', path: '/repos/{owner}/{repo}/git/refs/{ref}', handle: updateRef },
  { method: 'DELETE', path: '/repos/{owner}/{repo}/git/refs/{ref}', handle: deleteRef },
];

function refView(world: World, repository: Repository, ref: string, sha: string) {
  const api = `${world.url}/repos/${fullNameOf(repository)}/git`;
  return {
    ref,
    node_id: nodeId('REF', Number.parseInt(sha.slice(0, 8), 16)),
    url: `${api}/${ref}`,
    object: { sha, type: 'commit', url: `${api}/commits/${sha}` },
  };
}

function getRef(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const ref = `refs/${params['ref']}`;
  const sha = repository.refs.get(ref);
  if (sha === undefined) throw notFound();
  return ok(refView(ask.world, repository, ref, sha));
}

function listRefs(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const found = [...repository.refs].filter(([ref]) => ref.startsWith(`refs/${params['ref']}`));
  return ok(found.map(([ref, sha]) => refView(ask.world, repository, ref, sha)));
}

async function createRef(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, WRITE);
  const body = bodyOf(ask);
  const ref = requiredText(body, 'ref');
  const sha = requiredText(body, 'sha');
  if (!/^refs\/[^/]+\/./.test(ref)) throw new Refused(422, 'Reference name must start with refs/ and have two slashes');
  if (!(await isRefName(repository.gitDir, ref))) throw new Refused(422, 'Reference name is invalid');
  if ((await findCommit(repository.gitDir, sha)) === undefined) throw new Refused(422, 'Object does not exist');
  await change(ask, repository, ref, (before) => {
    if (before !== ZEROS) throw new Refused(422, 'Reference already exists');
    return sha;
  });
  return created(refView(ask.world, repository, ref, sha));
}

async function updateRef(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, WRITE);
  const ref = `refs/${params['ref']}`;
  const body = bodyOf(ask);
  const sha = requiredText(body, 'sha');
  const before = repository.refs.get(ref);
  if (before === undefined) throw new Refused(422, 'Reference does not exist');
  if ((await findCommit(repository.gitDir, sha)) === undefined) throw new Refused(422, 'Object does not exist');
  const isForced = !(await isAncestor(repository.gitDir, before, sha));
  if (isForced && (body['force'] !== true || isStraight(repository, ask.caller, ref)))
    throw new Refused(422, 'Update is not a fast forward');
  await change(ask, repository, ref, () => sha);
  return ok(refView(ask.world, repository, ref, sha));
}

async function deleteRef(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, WRITE);
  await change(ask, repository, `refs/${params['ref']}`, (before) => {
    if (before === ZEROS) throw new Refused(422, 'Reference does not exist');
    return ZEROS;
  });
  return nothing();
}

function change(ask: Ask, repository: Repository, ref: string, decide: (before: string) => string): Promise<void> {
  return inTurn(repository, async () => {
    const before = repository.refs.get(ref) ?? ZEROS;
    const wanted: RefChange = { ref, before, after: decide(before) };
    const block = pushBlock(repository, ask.caller, wanted);
    if (block !== undefined) throw invalid({ resource: 'Reference', code: 'custom', message: block });
    const after = wanted.after === ZEROS ? undefined : wanted.after;
    await moveRefs(ask.world, repository, actorOf(ask), [{ ref, after }]);
  });
}
