import { checkBlocks } from './blocks.ts';
import type { Caller, Repository, Rule } from './model.ts';
import { bypasses, isBound, isListed, protectionOf, rulesetsOf } from './protection.ts';
import type { RefChange } from './refs.ts';
import { ZEROS } from './refs.ts';

/** Why an account with write access may not change this ref. Undefined when it may. */
export function pushBlock(repository: Repository, caller: Caller, change: RefChange): string | undefined {
  if (change.ref.startsWith('refs/pull/')) return 'deny updating a hidden ref';
  if (!change.ref.startsWith('refs/heads/')) return undefined;
  return classicBlock(repository, caller, change) ?? ruleBlock(repository, caller, change);
}

function classicBlock(repository: Repository, caller: Caller, { ref, before, after }: RefChange): string | undefined {
  const protection = protectionOf(repository, ref.slice('refs/heads/'.length));
  if (protection === undefined) return undefined;
  const failed = (why: string) => `error: GH006: Protected branch update failed for ${ref}. ${why}`;
  if (after === ZEROS) return failed('Cannot delete this branch');
  const { checks, reviews, pushers, bypassers } = protection;
  if (pushers !== undefined && !isListed(pushers, caller))
    return failed("You're not authorized to push to this branch.");
  if (before === ZEROS || !isBound(repository, caller)) return undefined;
  if (reviews !== undefined && !isListed(bypassers, caller))
    return failed('Changes must be made through a pull request.');
  const [missing] = checkBlocks(repository, after, checks ?? []);
  return missing === undefined ? undefined : failed(missing);
}

function ruleBlock(repository: Repository, caller: Caller, change: RefChange): string | undefined {
  const branch = change.ref.slice('refs/heads/'.length);
  for (const ruleset of rulesetsOf(repository, branch)) {
    if (bypasses(ruleset, caller, 'push')) continue;
    for (const rule of ruleset.rules) {
      const why = violation(repository, rule, change);
      if (why !== undefined) return `error: GH013: Repository rule violations found for ${change.ref}. ${why}`;
    }
  }
  return undefined;
}

function violation(repository: Repository, rule: Rule, { before, after }: RefChange): string | undefined {
  const isUpdate = before !== ZEROS && after !== ZEROS;
  switch (rule.type) {
    case 'deletion':
      return after === ZEROS ? 'Cannot delete this protected ref.' : undefined;
    case 'creation':
      return before === ZEROS ? 'Cannot create ref due to creations being restricted.' : undefined;
    case 'update':
      return isUpdate ? 'Cannot update this protected ref.' : undefined;
    case 'pull_request':
      return isUpdate ? 'Changes must be made through a pull request.' : undefined;
    case 'required_status_checks':
      return isUpdate ? checkBlocks(repository, after, rule.checks)[0] : undefined;
    default:
      return undefined;
  }
}

/** Tells whether the ref may only be fast-forwarded. */
export function isStraight(repository: Repository, caller: Caller, ref: string): boolean {
  if (!ref.startsWith('refs/heads/')) return false;
  const branch = ref.slice('refs/heads/'.length);
  if (protectionOf(repository, branch) !== undefined) return true;
  return rulesetsOf(repository, branch).some(
    (ruleset) => !bypasses(ruleset, caller, 'push') && ruleset.rules.some(({ type }) => type === 'non_fast_forward'),
  );
}
