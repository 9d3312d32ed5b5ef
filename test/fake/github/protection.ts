import type { App, Caller, Protection, Repository, RequiredCheck, Rule, Ruleset } from './model.ts';
import { isStarred } from './starred.ts';
import { appOf, hasRole, roleOf } from './world.ts';

/** Classic protection of a branch. An exact name has precedence over patterns. */
export function protectionOf({ protections }: Repository, branch: string): Protection | undefined {
  return protections.get(branch) ?? protections.values().find(({ pattern }) => isStarred(pattern, branch));
}

export function rulesetsOf(repository: Repository, branch: string): readonly Ruleset[] {
  return repository.rulesets.filter(
    ({ enforcement, include, exclude }) =>
      enforcement === 'active' &&
      include.some((pattern) => isMeant(repository, pattern, branch)) &&
      !exclude.some((pattern) => isMeant(repository, pattern, branch)),
  );
}

function isMeant({ defaultBranch }: Repository, pattern: string, branch: string): boolean {
  if (pattern === '~ALL') return true;
  if (pattern === '~DEFAULT_BRANCH') return branch === defaultBranch;
  return isStarred(pattern, `refs/heads/${branch}`);
}

export function rulesOf(repository: Repository, branch: string): readonly Rule[] {
  return rulesetsOf(repository, branch).flatMap(({ rules }) => rules);
}

export function isProtected(repository: Repository, branch: string): boolean {
  return protectionOf(repository, branch) !== undefined || rulesOf(repository, branch).length > 0;
}

/** Required checks of both kinds of rules. */
export function requiredChecksOf(repository: Repository, branch: string): readonly RequiredCheck[] {
  const ofRules = rulesOf(repository, branch).flatMap((rule) =>
    rule.type === 'required_status_checks' ? rule.checks : [],
  );
  return [...(protectionOf(repository, branch)?.checks ?? []), ...ofRules];
}

/** GitHub's own numbers for these roles. */
const ROLE_NUMBERS: Readonly<Record<string, number>> = { admin: 5, write: 4, maintain: 2 };

/** `look`: the state is only displayed. */
export type Way = 'push' | 'pull_request' | 'look';

const MODES: Readonly<Record<Way, readonly string[]>> = {
  push: ['always', 'exempt'],
  pull_request: ['always', 'pull_request', 'exempt'],
  look: ['exempt'],
};

export function bypasses({ bypass }: Ruleset, repository: Repository, caller: Caller, way: Way): boolean {
  return bypass
    .filter(({ mode }) => MODES[way].includes(mode))
    .some(({ type, actorId }) => {
      if (type === 'Integration') return appOf(caller)?.id === actorId;
      if (caller.kind !== 'user') return false;
      const role = roleOf(repository, caller.user);
      return type === 'OrganizationAdmin' ? role === 'admin' : ROLE_NUMBERS[role] === actorId;
    });
}

/** Classic protection does not bind admins unless configured to. */
export function isBound(protection: Protection, repository: Repository, caller: Caller): boolean {
  const isAdmin = caller.kind === 'user' && hasRole(repository, caller.user, 'admin');
  return protection.bindsAdmins || !isAdmin;
}

export function isListed(list: readonly string[], caller: Caller): boolean {
  const app: App | undefined = appOf(caller);
  if (app !== undefined) return list.includes(app.slug);
  return caller.kind === 'user' && list.includes(caller.user.login);
}
