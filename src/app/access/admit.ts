import { type Operation, scopeOf } from '../../contract/operation.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { personName } from '../../lib/actor-name.ts';
import { present } from '../../lib/present.ts';
import type { Role } from '../../lib/role.ts';
import { type Organization, SCOPES, type Scope } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { formatRef, repositoryNotFound, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { roleFor, scopesOf } from './roles.ts';

interface Asked {
  readonly operation: Operation;
  readonly body: unknown;
}

interface AskedOf extends Asked {
  readonly person: ProvenPerson;
  readonly scope: Scope;
}

/** Makes the caller of one request, whose body is known. It is the only place that knows of roles. */
// SPEC A51
export async function admit(app: App, caller: Caller, asked: Asked): Answer<Caller> {
  const scope = scopeOf(asked.operation, asked.body);
  const { person } = caller;
  if (caller.maker !== undefined && hasScope(caller, scope)) return admitToken(app, caller, asked, caller.maker);
  if (person === undefined) return hasScope(caller, scope) ? caller : needsToken(asked.operation, scope);
  const of = { ...asked, person, scope };
  const everywhere = app.people?.roleIn(caller.organization, person);
  const repo = repoOf(asked.body);
  const inAll = everywhere === undefined ? undefined : withRole(caller, everywhere, null);
  if (inAll !== undefined && hasScope(inAll, scope) && !isOwnOnly(everywhere, scope)) return inAll;
  return repo === undefined ? admitToSome(app, caller, of) : admitToOne(app, caller, { ...of, repo });
}

/** A token of a person allows what both the token and the person's present role do. */
// SPEC A70
async function admitToken(app: App, token: Caller, asked: Asked, maker: ProvenPerson): Answer<Caller> {
  const whose = `This token allows no more than ${personName(maker)} may, who made it`;
  if (app.providers?.has(maker.provider) !== true) {
    return refuse('INSUFFICIENT_SCOPE', `${whose}: people of ${maker.provider} do not sign in here any more.`);
  }
  const { maker: _, ...rest } = token;
  const person = await admit(app, { ...rest, person: maker }, asked);
  if (isRefusal(person)) return { ...person, detail: `${whose}. ${person.detail}` };
  const ids = [token.repositoryIds, person.repositoryIds].filter((each) => each !== null);
  return {
    ...token,
    scopes: new Set(SCOPES.filter((scope) => hasScope(token, scope) && hasScope(person, scope))),
    repositoryIds: ids.length === 0 ? null : ids.reduce((a, b) => a.intersection(b)),
  };
}

/** Whether a caller reaches what it reached before. A reader whose reach shrank begins anew. */
export function reachesAll(now: Caller, before: Caller): boolean {
  if (now.repositoryIds === null) return true;
  return before.repositoryIds !== null && [...before.repositoryIds].every((id) => now.repositoryIds?.has(id));
}

/** The rights of a person, for a page that shows only what would be allowed. */
export async function describeRights({ people }: App, organization: Organization, person: ProvenPerson) {
  const everywhere = people?.roleIn(organization, person);
  const reading = { scope: 'read', isToken: false, within: null } as const;
  const roles = (await people?.listRoles(organization, person, reading)) ?? [];
  return {
    name: person.name,
    provider: person.provider,
    ...present({ role: everywhere }),
    scopes: everywhere === undefined ? [] : scopesOf(everywhere),
    logins: person.logins,
    repositories: roles.map(({ repository: { host, owner, name }, role }) => ({
      repo: { host, owner, name },
      role,
      scopes: scopesOf(role),
    })),
  };
}

async function admitToOne(app: App, caller: Caller, of: AskedOf & { readonly repo: RepositoryRef }): Answer<Caller> {
  const { repo, scope, person, operation } = of;
  const repository = await app.directory.findRepository(caller.organization.id, repo);
  const role =
    repository && (await app.people?.findRole(caller.organization, person, { repository, ...queryOf(caller, scope) }));
  if (repository === undefined || role === undefined) {
    return scope === 'read' || scope === 'submit' ? repositoryNotFound(repo) : lacks(operation, scope, formatRef(repo));
  }
  const admitted = withRole(caller, role, new Set([repository.id]));
  if (!hasScope(admitted, scope)) return lacks(operation, scope, formatRef(repo), role);
  const foreign = isOwnOnly(role, scope) ? await findForeign(app, repository, of) : undefined;
  return foreign ?? admitted;
}

/** All repositories in which the person has the scope, and nothing but that scope in them. */
async function admitToSome(app: App, caller: Caller, { person, scope, operation }: AskedOf): Answer<Caller> {
  const query = { ...queryOf(caller, scope), within: isToken(caller) ? caller.repositoryIds : null };
  const roles = (await app.people?.listRoles(caller.organization, person, query)) ?? [];
  const reached = roles.filter(({ role }) => hasScope(withRole(caller, role, null), scope) && !isOwnOnly(role, scope));
  if (reached.length === 0 && scope !== 'read') return lacks(operation, scope, caller.organization.slug);
  return {
    ...caller,
    scopes: new Set([scope]),
    repositoryIds: new Set(reached.map(({ repository }) => repository.id)),
  };
}

/** The person of a token has no session. */
function isToken({ isPerson }: Caller): boolean {
  return isPerson !== true;
}

function queryOf(caller: Caller, scope: Scope) {
  return { scope, isToken: isToken(caller) };
}

function isOwnOnly(role: Role | undefined, scope: Scope): boolean {
  return role === 'author' && scope === 'submit';
}

function withRole(caller: Caller, role: Role, repositoryIds: Caller['repositoryIds']): Caller {
  return { ...caller, scopes: new Set(scopesOf(role)), repositoryIds };
}

/** A commit names any author: only the forge's word for the pull request counts. */
// SPEC A52
async function findForeign(app: App, repository: Repository, { person, body }: AskedOf): Promise<Refusal | undefined> {
  const login = person.logins[repository.host]?.toLowerCase();
  const numbers = numbersOf(body);
  const hosting = app.forges.get(repository.host)?.hosting;
  const isProven = login !== undefined && hosting !== undefined;
  const found = isProven ? await hosting.findPullRequests(toForgeRepository(repository), numbers) : undefined;
  const foreign = numbers.find((number) => found?.get(number)?.author.toLowerCase() !== login || !isProven);
  if (foreign === undefined && numbers.length > 0) return undefined;
  return refuse(
    'INSUFFICIENT_SCOPE',
    `Pull request #${foreign ?? '?'} is not yours: an author acts on own ones alone.`,
  );
}

function numbersOf(body: unknown): readonly PrNumber[] {
  const { pr, prs = [] } = body as { readonly pr?: unknown; readonly prs?: readonly unknown[] };
  const given = pr === undefined ? prs : [pr, ...prs];
  return given.map(
    (each) =>
      Number(typeof each === 'object' && each !== null ? (each as { number: unknown }).number : each) as PrNumber,
  );
}

/** Some operations name a repository in one text. They only read, and answer what the caller may see. */
function repoOf(body: unknown): RepositoryRef | undefined {
  const { repo } = (body ?? {}) as { readonly repo?: unknown };
  return typeof repo === 'object' && repo !== null ? (repo as RepositoryRef) : undefined;
}

function needsToken({ name }: Operation, scope: Scope): Refusal {
  return refuse('INSUFFICIENT_SCOPE', `${name} needs a token with the scope "${scope}".`);
}

function lacks({ name }: Operation, scope: Scope, where: string, role?: Role): Refusal {
  if (scope === 'instance') return needsToken({ name } as Operation, scope);
  const has = role === undefined ? '' : ` You are ${article(role)} ${role} there.`;
  const needed = roleFor(scope);
  return refuse('INSUFFICIENT_SCOPE', `${name} needs ${article(needed)} ${needed} of ${where}.${has}`);
}

function article(role: Role): 'a' | 'an' {
  return role === 'author' || role === 'admin' ? 'an' : 'a';
}
