import { METHODS } from '../../hosted/adapter.ts';
import { error, inspectStacks, ok, warning } from '../../hosted/setup-finding.ts';
import type { InspectedQueue, SetupFinding } from '../../hosting.ts';

/** Branch protection as far as an inspection needs it. */
export interface Protection {
  readonly required_status_checks?: {
    readonly strict?: boolean;
    readonly contexts?: readonly string[];
    readonly checks?: readonly { readonly context: string; readonly app_id?: number | null }[];
  } | null;
  readonly restrictions?: {
    readonly users?: readonly { readonly login?: string }[];
    readonly teams?: readonly { readonly slug?: string }[];
    readonly apps?: readonly { readonly slug?: string }[];
  } | null;
  readonly required_pull_request_reviews?: {
    readonly dismiss_stale_reviews?: boolean;
    readonly bypass_pull_request_allowances?: { readonly apps?: readonly { readonly slug?: string }[] };
  } | null;
  readonly enforce_admins?: { readonly enabled?: boolean };
  readonly required_linear_history?: { readonly enabled?: boolean };
  readonly required_signatures?: { readonly enabled?: boolean };
  readonly lock_branch?: { readonly enabled?: boolean };
}

export interface Rule {
  readonly type: string;
  readonly ruleset_id?: number;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface Ruleset {
  readonly id: number;
  readonly name: string;
  /** GitHub shows this only to accounts that may change the ruleset. */
  readonly bypass_actors?: readonly BypassActor[];
  readonly current_user_can_bypass?: string;
}

export interface BypassActor {
  readonly actor_id?: number | null;
  readonly actor_type: string;
  readonly bypass_mode?: string;
}

export interface BranchRules {
  readonly branch: string;
  readonly protection: Protection | undefined;
  readonly rules: readonly Rule[];
  readonly rulesets: ReadonlyMap<number, Ruleset>;
  /** Slug of the own app, or login of the token's user. */
  readonly login: string;
  readonly isApp: boolean;
  /** Number of the own app, if known. */
  readonly appId: number | undefined;
  /** Some actors may bypass rules by merging a pull request but not by a push. */
  readonly way: 'merge' | 'push';
}

export interface Methods {
  readonly allow_squash_merge?: boolean;
  readonly allow_merge_commit?: boolean;
  readonly allow_rebase_merge?: boolean;
  readonly delete_branch_on_merge?: boolean;
}

/** Finds rules that keep the queue from landing, and gaps that let others push past it. */
export function inspectTarget(
  rules: BranchRules,
  methods: Methods,
  queue: InspectedQueue | undefined,
): readonly SetupFinding[] {
  const mode = queue?.landingMode ?? 'API';
  return [
    ...inspectUpdates(rules),
    ...inspectUpToDate(rules),
    ...inspectLocks(rules, mode),
    ...inspectStacks({
      branch: rules.branch,
      dismissesApprovals:
        rules.protection?.required_pull_request_reviews?.dismiss_stale_reviews === true ||
        ofType(rules, 'pull_request').some(({ parameters }) => parameters?.['dismiss_stale_reviews_on_push'] === true),
      deletesBranches: methods.delete_branch_on_merge === true,
    }),
    ...(mode === 'PUSH' ? inspectPush(rules) : inspectMethods(rules, methods, queue)),
  ];
}

/** GitHub shows the requester's own right to bypass. Few may see the list of other actors. */
export function mayBypass({ rulesets, appId, way }: BranchRules, { ruleset_id }: Rule): boolean {
  const ruleset = rulesets.get(ruleset_id ?? -1);
  const own = ruleset?.bypass_actors?.find(
    ({ actor_type, actor_id }) => actor_type === 'Integration' && actor_id === appId,
  );
  const modes = [ruleset?.current_user_can_bypass, own === undefined ? undefined : (own.bypass_mode ?? 'always')];
  return modes.some((mode) => mode !== undefined && PASSES[way].includes(mode));
}

const PASSES: Readonly<Record<BranchRules['way'], readonly string[]>> = {
  push: ['always', 'exempt'],
  merge: ['always', 'exempt', 'pull_requests_only', 'pull_request'],
};

function ofType({ rules }: BranchRules, type: string): readonly Rule[] {
  return rules.filter((rule) => rule.type === type);
}

function nameOf({ rulesets }: BranchRules, { ruleset_id }: Rule): string {
  const name = rulesets.get(ruleset_id ?? -1)?.name;
  return name === undefined ? 'A ruleset' : `The ruleset "${name}"`;
}

// SPEC G155
function inspectUpdates(of: BranchRules): readonly SetupFinding[] {
  const { branch, protection } = of;
  const updates = ofType(of, 'update');
  const shut = updates.filter((rule) => !mayBypass(of, rule));
  const restrictions = protection?.restrictions ?? undefined;
  const findings: SetupFinding[] = shut.map((rule) =>
    error(
      'LANDING_RESTRICTED',
      `${nameOf(of, rule)} restricts updates of ${branch}, and Sluice is not on its bypass list: nothing could land. Add the app there (as "Exempt" or "Always allow").`,
    ),
  );
  if (restrictions !== undefined && of.isApp && !restrictions.apps?.some(({ slug }) => slug === of.login)) {
    findings.push(
      error(
        'LANDING_RESTRICTED',
        `The branch protection of ${branch} restricts who can push, and the app ${of.login} is not listed: nothing could land. Add it there.`,
      ),
    );
  }
  if (updates.length === 0 && restrictions === undefined) {
    findings.push(
      warning(
        'TARGET_OPEN',
        `Everybody with write access can merge or push to ${branch} behind the queue's back: what is under test then starts again, and nothing proves what they land. Add a ruleset for ${branch} with "Restrict updates", and Sluice alone on its bypass list.`,
      ),
    );
  }
  findings.push(...updates.flatMap((rule) => othersOn(of, rule)), ...othersListed(of));
  if (findings.length === 0) findings.push(ok('TARGET_GUARDED', `Only Sluice can move ${branch}.`));
  return findings;
}

function othersOn(of: BranchRules, rule: Rule): readonly SetupFinding[] {
  const actors = of.rulesets.get(rule.ruleset_id ?? -1)?.bypass_actors ?? [];
  const apps = actors.filter(({ actor_type }) => actor_type === 'Integration').length;
  const others = [...new Set(actors.map(({ actor_type }) => actor_type).filter((type) => type !== 'Integration'))];
  const named = [...others.map((type) => ACTORS[type] ?? type), ...(apps > 1 ? ['other apps'] : [])];
  if (named.length === 0) return [];
  const text = `${nameOf(of, rule)} also lets others move ${of.branch} behind the queue's back: ${named.join(', ')}.`;
  return [warning('OTHERS_MAY_MOVE_TARGET', text)];
}

const ACTORS: Readonly<Record<string, string>> = {
  OrganizationAdmin: 'administrators of the organization',
  RepositoryRole: 'everybody with a certain role',
  Team: 'a team',
  DeployKey: 'deploy keys',
  User: 'a person',
};

function othersListed({ protection, branch, login, isApp }: BranchRules): readonly SetupFinding[] {
  const restrictions = protection?.restrictions;
  if (restrictions === undefined || restrictions === null) return [];
  const names = [
    ...(restrictions.users ?? []).map((user) => user.login).filter((name) => isApp || name !== login),
    ...(restrictions.teams ?? []).map(({ slug }) => `the team ${slug}`),
    ...(restrictions.apps ?? []).map(({ slug }) => slug).filter((slug) => slug !== login),
    ...(protection?.enforce_admins?.enabled === true ? [] : ['administrators']),
  ];
  if (names.length === 0) return [];
  const text = `The branch protection of ${branch} also lets others move it behind the queue's back: ${names.join(', ')}.`;
  return [warning('OTHERS_MAY_MOVE_TARGET', text)];
}

function inspectUpToDate(of: BranchRules): readonly SetupFinding[] {
  const strict = ofType(of, 'required_status_checks').filter(
    (rule) => rule.parameters?.['strict_required_status_checks_policy'] === true && !mayBypass(of, rule),
  );
  const where = [
    ...strict.map((rule) => nameOf(of, rule)),
    ...(of.protection?.required_status_checks?.strict === true ? ['The branch protection'] : []),
  ];
  return where.map((name) =>
    error(
      'UP_TO_DATE_REQUIRED',
      `${name} requires branches to be up to date before merging: every landing would put all others back. Turn that off; the queue tests each pull request on what it lands on.`,
    ),
  );
}

function inspectLocks(of: BranchRules, mode: string): readonly SetupFinding[] {
  const findings: SetupFinding[] = [];
  if (of.protection?.lock_branch?.enabled === true) {
    findings.push(error('TARGET_LOCKED', `The branch protection locks ${of.branch}: nothing can land.`));
  }
  if (mode === 'API' && ofType(of, 'merge_queue').some((rule) => !mayBypass(of, rule))) {
    const text = `GitHub's own merge queue is required on ${of.branch}, and refuses merges of others. Turn it off, or let Sluice bypass that ruleset.`;
    findings.push(error('GITHUB_MERGE_QUEUE', text));
  }
  return findings;
}

/** Finds rules that a push of tested commits would violate. */
function inspectPush(of: BranchRules): readonly SetupFinding[] {
  const findings = ofType(of, 'pull_request')
    .filter((rule) => !mayBypass(of, rule))
    .map((rule) =>
      error(
        'PUSH_NOT_ALLOWED',
        `${nameOf(of, rule)} requires a pull request before merging, and the queue lands with PUSH. Let Sluice bypass it, or set landingMode to API.`,
      ),
    );
  const reviews = of.protection?.required_pull_request_reviews;
  const isExcused = reviews?.bypass_pull_request_allowances?.apps?.some(({ slug }) => slug === of.login) === true;
  if (reviews !== undefined && reviews !== null && !isExcused) {
    const text = `The branch protection of ${of.branch} requires a pull request before merging, and the queue lands with PUSH. Allow the app to bypass it, or set landingMode to API.`;
    findings.push(error('PUSH_NOT_ALLOWED', text));
  }
  const isSigned = of.protection?.required_signatures?.enabled === true;
  if (isSigned || ofType(of, 'required_signatures').some((rule) => !mayBypass(of, rule))) {
    const text = `${of.branch} requires signed commits, and those that Sluice pushes are not signed. Set landingMode to API.`;
    findings.push(error('SIGNATURES_REQUIRED', text));
  }
  return findings;
}

function inspectMethods(of: BranchRules, methods: Methods, queue: InspectedQueue | undefined): readonly SetupFinding[] {
  if (queue === undefined) return [];
  const wanted = METHODS[queue.mergeMethod];
  const isOn = {
    merge: methods.allow_merge_commit,
    squash: methods.allow_squash_merge,
    rebase: methods.allow_rebase_merge,
  };
  const isLinear =
    of.protection?.required_linear_history?.enabled === true || ofType(of, 'required_linear_history').length > 0;
  const isRuled = ofType(of, 'pull_request').some(({ parameters }) => {
    const allowed = parameters?.['allowed_merge_methods'];
    return Array.isArray(allowed) && !allowed.includes(wanted);
  });
  const why =
    isOn[wanted] === false
      ? 'the repository does not allow it'
      : isRuled
        ? `a ruleset of ${of.branch} does not allow it`
        : isLinear && wanted === 'merge'
          ? `${of.branch} requires a linear history`
          : undefined;
  if (why === undefined) return [];
  const text = `The queue merges with ${queue.mergeMethod}, and ${why}. Change the queue's mergeMethod, or allow it.`;
  return [error('MERGE_METHOD_NOT_ALLOWED', text)];
}

/** Sluice creates, force-pushes and deletes test branches, so these rules must not cover them. */
const BLOCKING = [
  'creation',
  'update',
  'deletion',
  'pull_request',
  'required_status_checks',
  'required_signatures',
  'merge_queue',
];

export function inspectTestBranches(of: BranchRules, prefix: string): readonly SetupFinding[] {
  const blocking = of.rules.filter((rule) => BLOCKING.includes(rule.type) && !mayBypass(of, rule));
  const names = [...new Set(blocking.map((rule) => nameOf(of, rule)))];
  if (names.length === 0) return [ok('TEST_BRANCHES', `Sluice can push test branches (${prefix}/**).`)];
  return names.map((name) =>
    error(
      'TEST_BRANCHES_RESTRICTED',
      `${name} also covers test branches. Exclude "${prefix}/**/*" from it, or let Sluice bypass it.`,
    ),
  );
}
