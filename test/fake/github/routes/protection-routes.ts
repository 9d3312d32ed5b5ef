import type { Ask, Route } from '../exchange.ts';
import { protectionOf, rulesetsOf } from '../protection.ts';
import { branchHead } from '../refs.ts';
import { notFound, Refused } from '../refused.ts';
import { branchRuleView, protectionView, rulesetView } from '../views/protection-view.ts';
import { listed, numberOf, ok, type Params, READ, repositoryOf } from './tools.ts';

/** People must be admins. For apps the read permission is enough. */
const LOOK = { permission: 'administration', access: 'read', role: 'admin' } as const;

export const protectionRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}/protection', handle: getProtection },
  { method: 'GET', path: '/repos/{owner}/{repo}/rules/branches/{branch}', handle: listRules },
  { method: 'GET', path: '/repos/{owner}/{repo}/rulesets', handle: listRulesets },
  { method: 'GET', path: '/repos/{owner}/{repo}/rulesets/{ruleset_id}', handle: getRuleset },
];

function getProtection(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, LOOK);
  const branch = params['branch'] ?? '';
  if (branchHead(repository, branch) === undefined) throw new Refused(404, 'Branch not found');
  const protection = protectionOf(repository, branch);
  if (protection === undefined) throw new Refused(404, 'Branch not protected');
  return ok(protectionView(ask.world, repository, branch, protection));
}

function listRules(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const rules = rulesetsOf(repository, params['branch'] ?? '').flatMap((ruleset) =>
    ruleset.rules.map((rule) => branchRuleView(repository, ruleset, rule)),
  );
  return listed(ask, rules, (rule) => rule);
}

function listRulesets(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return listed(ask, repository.rulesets, (ruleset) => rulesetView(ask.world, repository, ruleset));
}

function getRuleset(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const ruleset = repository.rulesets.find(({ id }) => id === numberOf(params, 'ruleset_id'));
  if (ruleset === undefined) throw notFound();
  return ok(rulesetView(ask.world, repository, ruleset, ask.caller));
}
