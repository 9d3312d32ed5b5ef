import type { Protection, Repository, Ruleset, World } from './model.ts';
import { nodeId } from './world.ts';

export type ProtectionDraft = Partial<Omit<Protection, 'id' | 'nodeId' | 'pattern'>>;

/** Replaces the classic protection of a branch as a whole, like GitHub. */
export function protect(world: World, repository: Repository, pattern: string, draft: ProtectionDraft): Protection {
  const before = repository.protections.get(pattern);
  const id = before?.id ?? world.nextId();
  const protection: Protection = {
    id,
    nodeId: nodeId('BPR', id),
    pattern,
    checks: undefined,
    isStrict: false,
    reviews: undefined,
    pushers: undefined,
    bypassers: [],
    bindsAdmins: false,
    allowsForcePushes: false,
    allowsDeletions: false,
    needsLinearHistory: false,
    ...draft,
  };
  repository.protections.set(pattern, protection);
  const action = before === undefined ? 'created' : 'edited';
  world.announce({ event: 'branch_protection_rule', action, repository, sender: repository.owner, protection });
  return protection;
}

export function unprotect(world: World, repository: Repository, pattern: string): void {
  const protection = repository.protections.get(pattern);
  if (protection === undefined) return;
  repository.protections.delete(pattern);
  const { owner: sender } = repository;
  world.announce({ event: 'branch_protection_rule', action: 'deleted', repository, sender, protection });
}

export type RulesetDraft = Pick<Ruleset, 'rules'> & Partial<Omit<Ruleset, 'id' | 'nodeId' | 'createdAt' | 'rules'>>;

export function addRuleset(world: World, repository: Repository, draft: RulesetDraft): Ruleset {
  const id = world.nextId();
  const ruleset: Ruleset = {
    id,
    nodeId: nodeId('RRS', id),
    name: `rules ${id}`,
    enforcement: 'active',
    createdAt: world.now(),
    include: ['~DEFAULT_BRANCH'],
    exclude: [],
    bypass: [],
    ...draft,
  };
  repository.rulesets.push(ruleset);
  world.announce({ event: 'repository_ruleset', action: 'created', repository, sender: repository.owner, ruleset });
  return ruleset;
}

export function removeRuleset(world: World, repository: Repository, ruleset: Ruleset): void {
  repository.rulesets.splice(repository.rulesets.indexOf(ruleset), 1);
  world.announce({ event: 'repository_ruleset', action: 'deleted', repository, sender: repository.owner, ruleset });
}
