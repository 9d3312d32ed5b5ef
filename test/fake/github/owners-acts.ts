import { randomBytes } from 'node:crypto';
import { addKey, announceInstallation, type InstallOptions, installApp, setSuspended, uninstallApp } from './apps.ts';
import type { App, Installation, Permissions, Protection, Repository, Role, Ruleset, User, World } from './model.ts';
import { deleteRepository, renameRepository } from './repositories.ts';
import { ensureUser } from './world.ts';

type ProtectionDraft = Partial<Omit<Protection, 'id' | 'pattern'>>;
type RulesetDraft = Pick<Ruleset, 'rules'> & Partial<Omit<Ruleset, 'id' | 'rules'>>;

/** Acts of those who own repositories and accounts: rules, roles, names and apps. */
export class Owners {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  user(login: string): User {
    return ensureUser(this.world, login);
  }

  /** Replaces the classic protection of a branch as a whole, like GitHub. */
  protect(repository: Repository, pattern: string, draft: ProtectionDraft = {}): void {
    const before = repository.protections.get(pattern);
    const defaults = { checks: undefined, isStrict: false, reviews: undefined, pushers: undefined, bypassers: [] };
    const protection: Protection = { id: before?.id ?? this.world.nextId(), pattern, ...defaults, ...draft };
    repository.protections.set(pattern, protection);
    const action = before === undefined ? 'created' : 'edited';
    const { owner: sender } = repository;
    this.world.announce({ event: 'branch_protection_rule', action, repository, sender, protection });
  }

  unprotect(repository: Repository, pattern: string): void {
    const protection = repository.protections.get(pattern);
    if (protection === undefined) return;
    repository.protections.delete(pattern);
    const { owner: sender } = repository;
    this.world.announce({ event: 'branch_protection_rule', action: 'deleted', repository, sender, protection });
  }

  addRuleset(repository: Repository, draft: RulesetDraft): Ruleset {
    const id = this.world.nextId();
    const ruleset: Ruleset = {
      id,
      name: `rules ${id}`,
      enforcement: 'active',
      include: ['~DEFAULT_BRANCH'],
      bypass: [],
      ...draft,
    };
    repository.rulesets.push(ruleset);
    const { owner: sender } = repository;
    this.world.announce({ event: 'repository_ruleset', action: 'created', repository, sender, ruleset });
    return ruleset;
  }

  removeRuleset(repository: Repository, ruleset: Ruleset): void {
    repository.rulesets.splice(repository.rulesets.indexOf(ruleset), 1);
    const { owner: sender } = repository;
    this.world.announce({ event: 'repository_ruleset', action: 'deleted', repository, sender, ruleset });
  }

  rename(repository: Repository, name: string): void {
    renameRepository(this.world, repository, name);
  }

  deleteRepository(repository: Repository): void {
    deleteRepository(this.world, repository, repository.owner);
  }

  setPermission(repository: Repository, login: string, role: Role): void {
    const member = this.user(login);
    const known = repository.roles.has(login.toLowerCase()) ? 'edited' : 'added';
    repository.roles.set(login.toLowerCase(), role);
    const action = role === 'none' ? 'removed' : known;
    this.world.announce({ event: 'member', action, repository, sender: repository.owner, member, role });
  }

  install(app: App, account: string, options: InstallOptions = {}): Installation {
    return installApp(this.world, app, account, options);
  }

  uninstall(installation: Installation): void {
    uninstallApp(this.world, installation);
  }

  suspend(installation: Installation): void {
    setSuspended(this.world, installation, true);
  }

  unsuspend(installation: Installation): void {
    setSuspended(this.world, installation, false);
  }

  grant(installation: Installation, permissions: Permissions): void {
    installation.permissions = permissions;
    announceInstallation(this.world, installation, 'new_permissions_accepted');
  }

  /** Invalidates the old key. */
  rotateKey(app: App): string {
    return addKey(app);
  }

  /** Creates a personal access token. */
  createToken(login: string): string {
    const value = `ghp_${randomBytes(18).toString('hex')}`;
    this.world.tokens.set(value, { kind: 'user', user: this.user(login) });
    return value;
  }
}
