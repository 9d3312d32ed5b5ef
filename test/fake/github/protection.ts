import type { App, Caller, Protection, Repository, RequiredCheck, Rule, Ruleset } from './model.ts';
import { appOf, hasRole } from './world.ts';

/** Classic protection of a branch. An exact name has precedence over patterns. */
export function protectionOf({ protections }: Repository, branch: string): Protection | undefined {
  return protections.get(branch) ?? protections.values().find(({ pattern }) => isStarred(pattern, branch));
}

export function rulesetsOf(repository: Repository, branch: string): readonly Ruleset[] {
  return repository.rulesets.filter(
    ({ enforcement, include }) =>
      enforcement === 'active' && include.some((pattern) => isMeant(repository, pattern, branch)),
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

/** `look`: the state is only displayed. */
export type Way = 'push' | 'pull_request' | 'look';

const MODES: Readonly<Record<Way, readonly string[]>> = {
  push: ['always', 'exempt'],
  pull_request: ['always', 'pull_request', 'exempt'],
  look: ['exempt'],
};

export function bypasses({ bypass }: Ruleset, caller: Caller, way: Way): boolean {
  return bypass.some(({ mode, actorId }) => MODES[way].includes(mode) && appOf(caller)?.id === actorId);
}

/** Classic protection does not bind admins. */
export function isBound(repository: Repository, caller: Caller): boolean {
  return caller.kind !== 'user' || !hasRole(repository, caller.user, 'admin');
}

export function isListed(list: readonly string[], caller: Caller): boolean {
  const app: App | undefined = appOf(caller);
  if (app !== undefined) return list.includes(app.slug);
  return caller.kind === 'user' && list.includes(caller.user.login);
}

/** `*` matches anything but a slash, `**` matches anything. */
function isStarred(pattern: string, text: string): boolean {
  const source = pattern
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part.startsWith('**')) return '.*';
      if (part === '*') return '[^/]*';
      return part === '?' ? '[^/]' : part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`).test(text);
}
