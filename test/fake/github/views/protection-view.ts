import type { Caller, Protection, Repository, RequiredCheck, Rule, Ruleset, World } from '../model.ts';
import { bypasses } from '../protection.ts';
import { fullNameOf } from '../world.ts';
import { appView, userView } from './account-view.ts';

export function protectionView(world: World, { checks, isStrict, reviews, bypassers, pushers }: Protection) {
  return {
    ...(checks !== undefined && { required_status_checks: checksView(checks, isStrict) }),
    ...(reviews !== undefined && {
      required_pull_request_reviews: {
        dismiss_stale_reviews: reviews.dismissesStale,
        require_code_owner_reviews: reviews.needsCodeOwners,
        required_approving_review_count: reviews.count,
        ...(bypassers.length > 0 && { bypass_pull_request_allowances: actorsView(world, bypassers) }),
      },
    }),
    ...(pushers !== undefined && { restrictions: actorsView(world, pushers) }),
    ...OFF,
  };
}

const NO = { enabled: false };
/** The fake has no such rules. */
const OFF = { enforce_admins: NO, required_linear_history: NO, required_signatures: NO, lock_branch: NO };

function checksView(checks: readonly RequiredCheck[], isStrict: boolean) {
  return {
    strict: isStrict,
    contexts: checks.map(({ context }) => context),
    checks: checks.map(({ context, appId }) => ({ context, app_id: appId ?? null })),
  };
}

function actorsView(world: World, names: readonly string[]) {
  return {
    users: [...world.users.values()].filter(({ login }) => names.includes(login)).map(userView),
    teams: [],
    apps: [...world.apps.values()].filter(({ slug }) => names.includes(slug)).map(appView),
  };
}

/** GitHub describes each kind of rule as an alternative, in which nothing is completed. */
export function ruleView(rule: Rule) {
  switch (rule.type) {
    case 'required_status_checks':
      return {
        type: rule.type,
        parameters: {
          required_status_checks: rule.checks.map(({ context, appId }) =>
            appId === undefined ? { context } : { context, integration_id: appId },
          ),
          strict_required_status_checks_policy: rule.isStrict,
          do_not_enforce_on_create: false,
        },
      };
    case 'pull_request':
      return {
        type: rule.type,
        parameters: {
          required_approving_review_count: rule.approvals,
          dismiss_stale_reviews_on_push: false,
          require_code_owner_review: false,
          require_last_push_approval: false,
          required_review_thread_resolution: false,
        },
      };
    case 'update':
      return { type: rule.type, parameters: { update_allows_fetch_and_merge: false } };
    default:
      return { type: rule.type };
  }
}

export function branchRuleView(repository: Repository, ruleset: Ruleset, rule: Rule) {
  const source = { ruleset_source_type: 'Repository', ruleset_source: fullNameOf(repository), ruleset_id: ruleset.id };
  return { ...ruleView(rule), ...source };
}

export function rulesetView(repository: Repository, ruleset: Ruleset, viewer: Caller) {
  const { id, name, enforcement, include, bypass, rules } = ruleset;
  return {
    id,
    name,
    target: 'branch',
    source_type: 'Repository',
    source: fullNameOf(repository),
    enforcement,
    conditions: { ref_name: { include, exclude: [] } },
    bypass_actors: bypass.map(({ actorId, type, mode }) => ({
      actor_id: actorId,
      actor_type: type,
      bypass_mode: mode,
    })),
    current_user_can_bypass: bypassOf(ruleset, viewer),
    rules: rules.map(ruleView),
  };
}

function bypassOf(ruleset: Ruleset, viewer: Caller): string {
  if (bypasses(ruleset, viewer, 'look')) return 'exempt';
  if (bypasses(ruleset, viewer, 'push')) return 'always';
  return bypasses(ruleset, viewer, 'pull_request') ? 'pull_requests_only' : 'never';
}
