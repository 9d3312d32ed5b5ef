import { canSee } from './auth.ts';
import { checkRunNode, checkSuiteNode } from './graphql-checks.ts';
import { mutationFields } from './graphql-mutations.ts';
import { actorNode, at, Complaint, type Node, type Scope } from './graphql-node.ts';
import { commentNode, labelNode, pullRequestNode } from './graphql-pull-request.ts';
import { repositoryNode } from './graphql-repository.ts';
import type { Repository, User } from './model.ts';
import { findRenamed, findRepository } from './world.ts';

interface RepositoryArgs {
  readonly owner: string;
  readonly name: string;
  readonly followRenames: boolean;
}

/** The root of every query. */
export function rootNode(looker: Omit<Scope, 'repositoryNode'>): Node {
  const scope: Scope = { ...looker, repositoryNode: (repository) => repositoryNode(scope, repository) };
  const { limit, weight, caller, world } = scope;
  const node = ({ id }: { readonly id: string }) => getNode(scope, id);
  return {
    viewer: () => ({ ...actorNode(caller.user), login: caller.user.login }),
    rateLimit: () => ({ ...limit, cost: weight.cost, nodeCount: weight.nodes, resetAt: at(limit.reset * 1000) }),
    repository: (args: RepositoryArgs) => getRepository(scope, args),
    user: ({ login }: { readonly login: string }) => getUser(world.users.get(login.toLowerCase()), login, 'User'),
    organization: ({ login }: { readonly login: string }) =>
      getUser(world.users.get(login.toLowerCase()), login, 'Organization'),
    node,
    ...mutationFields(scope),
    nodes: ({ ids }: { readonly ids: readonly string[] }) => ids.map((id) => getNode(scope, id)),
  };
}

function getRepository(scope: Scope, { owner, name, followRenames }: RepositoryArgs): Node {
  const fullName = `${owner}/${name}`;
  const renamed = followRenames ? findRenamed(scope.world, fullName) : undefined;
  const repository = findRepository(scope.world, fullName) ?? renamed;
  if (repository !== undefined && canSee(scope.caller, repository)) return repositoryNode(scope, repository);
  throw new Complaint('NOT_FOUND', `Could not resolve to a Repository with the name '${fullName}'.`);
}

function getUser(user: User | undefined, login: string, type: User['type']): Node {
  if (user?.type === type) return actorNode(user);
  throw new Complaint('NOT_FOUND', `Could not resolve to a ${type} with the login of '${login}'.`);
}

function getNode(scope: Scope, id: string): Node {
  for (const repository of scope.world.repositories.values()) {
    const found = canSee(scope.caller, repository) ? findNode(scope, repository, id) : undefined;
    if (found !== undefined) return found;
  }
  const user = scope.world.users.values().find(({ nodeId }) => nodeId === id);
  if (user !== undefined) return actorNode(user);
  throw new Complaint('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}

function findNode(scope: Scope, repository: Repository, id: string): Node | undefined {
  const isMeant = (thing: { readonly nodeId: string }) => thing.nodeId === id;
  if (isMeant(repository)) return repositoryNode(scope, repository);
  const check = repository.checks.find(isMeant);
  if (check !== undefined) return checkRunNode(scope, repository, check);
  const suite = repository.suites.find(isMeant);
  if (suite !== undefined) return checkSuiteNode(scope, repository, suite);
  const label = repository.labels.values().find(isMeant);
  if (label !== undefined) return labelNode(label);
  for (const pr of repository.pulls.values()) {
    if (isMeant(pr)) return pullRequestNode(scope, pr);
    const comment = pr.comments.find(isMeant);
    if (comment !== undefined) return commentNode(scope, pr, comment);
  }
  return undefined;
}
