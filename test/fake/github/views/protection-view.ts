import type { Caller, Protection, Repository, RequiredCheck, Rule, Ruleset, World } from '../model.ts';
import { bypasses } from '../protection.ts';
import { fullNameOf } from '../world.ts';
import { timeView } from './time.ts';
import { appView, userView } from './user-view.ts';

export function protectionView(world: World, repository: Repository, branch: string, protection: Protection) {
  const url = `${world.url}/repos/${fullNameOf(repository)}/branches/${branch}/protection`;
  const { checks, reviews, isStrict } = protection;
  return {
    url,
    ...(checks === undefined ? {} : { required_status_checks: checksView(url, checks, isStrict) }),
    ...(reviews === undefined
      ? {}
      : {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: reviews.dismissesStale,
            require_code_owner_reviews: reviews.needsCodeOwners,
            required_approving_review_count: reviews.count,
            require_last_push_approval: false,
            ...(protection.bypassers.length === 0
              ? {}
              : { bypass_pull_request_allowances: actorsView(world, protection.bypassers) }),
          },
        }),
    ...(protection.pushers === undefined ? {} : { restrictions: restrictionsView(world, url, protection.pushers) }),
    required_signatures: { url: `${url}/required_signatures`, enabled: false },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: false },
    required_linear_history: { enabled: false },
    allow_force_pushes: { enabled: false },
    allow_deletions: { enabled: false },
    block_creations: { enabled: false },
    required_conversation_resolution: { enabled: false },
    lock_branch: { enabled: false },
    allow_fork_syncing: { enabled: false },
  };
}

function checksView(url: string, checks: readonly RequiredCheck[], isStrict: boolean) {
  return {
    url: `${url}/required_status_checks`,
    strict: isStrict,
    contexts: checks.map(({ context }) => context),
    contexts_url: `${url}/required_status_checks/contexts`,
    checks: checks.map(({ context, appId }) => ({ context, app_id: appId ?? null })),
  };
}

function restrictionsView(world: World, url: string, pushers: readonly string[]) {
  const self = `${url}/restrictions`;
  return {
    url: self,
    users_url: `${self}/users`,
    teams_url: `${self}/teams`,
    apps_url: `${self}/apps`,
    ...actorsView(world, pushers),
  };
}

function actorsView(world: World, names: readonly string[]) {
  return {
    users: [...world.users.values()].filter(({ login }) => names.includes(login)).map((user) => userView(world, user)),
    teams: [],
    apps: [...world.apps.values()].filter(({ slug }) => names.includes(slug)).map((app) => appView(world, app)),
  };
}

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
          allowed_merge_methods: ['merge', 'squash', 'rebase'],
        },
      };
    case 'update':
      return { type: rule.type, parameters: { update_allows_fetch_and_merge: false } };
    default:
      return { type: rule.type };
  }
}

export function branchRuleView(repository: Repository, ruleset: Ruleset, rule: Rule) {
  return {
    ...ruleView(rule),
    ruleset_source_type: 'Repository',
    ruleset_source: fullNameOf(repository),
    ruleset_id: ruleset.id,
  };
}

export function rulesetView(world: World, repository: Repository, ruleset: Ruleset, viewer?: Caller) {
  const { id, nodeId, name, enforcement, include, bypass, rules, createdAt } = ruleset;
  const full = {
    conditions: { ref_name: { include, exclude: [] } },
    bypass_actors: bypass.map(({ actorId, type, mode }) => ({
      actor_id: actorId,
      actor_type: type,
      bypass_mode: mode,
    })),
    current_user_can_bypass: bypassOf(ruleset, viewer),
    rules: rules.map(ruleView),
  };
  return {
    id,
    node_id: nodeId,
    name,
    target: 'branch',
    source_type: 'Repository',
    source: fullNameOf(repository),
    enforcement,
    created_at: timeView(createdAt),
    updated_at: timeView(createdAt),
    _links: {
      self: { href: `${world.url}/repos/${fullNameOf(repository)}/rulesets/${id}` },
      html: { href: `${world.url}/${fullNameOf(repository)}/rules/${id}` },
    },
    ...(viewer === undefined ? {} : full),
  };
}

function bypassOf(ruleset: Ruleset, viewer: Caller | undefined): string {
  if (viewer === undefined) return 'never';
  if (bypasses(ruleset, viewer, 'look')) return 'exempt';
  if (bypasses(ruleset, viewer, 'push')) return 'always';
  return bypasses(ruleset, viewer, 'pull_request') ? 'pull_requests_only' : 'never';
}
