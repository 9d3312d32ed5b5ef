import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { initBare } from '../git-files/bare-template.ts';
import { lendCommit } from '../git-files/commit-files.ts';
import { orGit } from '../git-files/object-files.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import { readRefs, runGit } from '../hosted/git.ts';
import type { Repository, RepositorySettings, User, World } from './model.ts';
import { ensureUser, fullNameOf, nodeId } from './world.ts';

export interface RepositoryOptions {
  readonly isPrivate?: boolean;
  readonly defaultBranch?: string;
  readonly settings?: Partial<RepositorySettings>;
  /** Type of the owner, if the account is created here. */
  readonly ownerType?: User['type'];
}

const DEFAULTS: RepositorySettings = {
  allowSquash: true,
  allowMerge: true,
  allowRebase: true,
  deleteBranchOnMerge: false,
};

/**
 * Refuses refs one by one, like GitHub. Only the server knows the caller, so names and reasons come in files that the
 * environment names. Rules that need the pushed commits are evaluated here, where they are.
 */
const UPDATE_HOOK = `#!/bin/sh
ref="$1" old="$2" new="$3"
zero=0000000000000000000000000000000000000000
refuse() { printf '%s\\n' "$1" >&2; exit 1; }
reason=$(awk -F '\\t' -v ref="$ref" '$1 == ref { print $2; exit }' "$FAKE_REFUSED")
[ -z "$reason" ] || refuse "$reason"
if [ "$old" != $zero ] && [ "$new" != $zero ]; then
  if awk -F '\\t' -v ref="$ref" '$1 == ref { found = 1; exit } END { exit !found }' "$FAKE_STRAIGHT"; then
    git merge-base --is-ancestor "$old" "$new" || refuse "error: GH006: Protected branch update failed for $ref. Cannot force-push to this branch"
  fi
fi
if [ -n "$FAKE_NO_WORKFLOWS" ] && [ "$new" != $zero ]; then
  changed=$(git rev-list "$new" --not --all | git diff-tree --stdin -r --root --name-only --no-commit-id | grep '^\\.github/workflows/' | head -n 1)
  [ -z "$changed" ] || refuse "refusing to allow a GitHub App to create or update workflow \\\`$changed\\\` without \\\`workflows\\\` permission"
fi
exit 0
`;

export async function createRepository(
  world: World,
  fullName: string,
  options: RepositoryOptions & { readonly parent?: Repository } = {},
): Promise<Repository> {
  const [login = '', name = ''] = fullName.split('/');
  const owner = ensureUser(world, login, options.ownerType ?? 'Organization');
  const id = world.nextId();
  const repository: Repository = {
    id,
    nodeId: nodeId('R', id),
    owner,
    name,
    formerNames: new Set(),
    gitDir: join(world.options.folder, `${id}.git`),
    refs: new Map(),
    parent: options.parent,
    isPrivate: options.isPrivate ?? false,
    createdAt: world.now(),
    updatedAt: world.now(),
    isArchived: false,
    defaultBranch: options.defaultBranch ?? 'main',
    settings: { ...DEFAULTS, ...options.settings },
    roles: new Map(),
    pulls: new Map(),
    labels: new Map(),
    suites: [],
    checks: [],
    statuses: [],
    protections: new Map(),
    rulesets: [],
    runs: [],
    nextNumber: 1,
    turn: Promise.resolve(),
  };
  await initialize(repository);
  endRedirects(world, fullName);
  world.repositories.set(id, repository);
  world.announce({ event: 'repository', action: 'created', repository, sender: owner });
  return repository;
}

async function initialize({ gitDir, parent, defaultBranch }: Repository): Promise<void> {
  initBare(gitDir, [`--initial-branch=${defaultBranch}`]);
  await writeFile(join(gitDir, 'hooks', 'update'), UPDATE_HOOK, { mode: 0o755 });
  await writeFile(join(gitDir, 'config'), CONFIG);
  if (parent === undefined) return;
  const refspecs = ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'];
  await orGit<unknown>(
    () => copyRefs(parent, gitDir),
    () => runGit(gitDir, ['fetch', '--quiet', parent.gitDir, ...refspecs]),
  );
}

function copyRefs({ gitDir, refs }: Repository, to: string): void {
  const writes = [...refs]
    .filter(([ref]) => /^refs\/(?:heads|tags)\//.test(ref))
    .map(([ref, after]) => ({ ref, after }));
  for (const { after } of writes) lendCommit(gitDir, to, after);
  writeRefFiles(to, writes);
}

const CONFIG = `[core]
	bare = true
	repositoryformatversion = 0
	fsync = none
[gc]
	auto = 0
[http]
	receivepack = true
[receive]
	advertisePushOptions = true
	autogc = false
	denyDeleteCurrent = refuse
	hideRefs = refs/pull
	hideRefs = refs/scratch
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
	hideRefs = refs/scratch
`;

export async function forkRepository(world: World, parent: Repository, login: string): Promise<Repository> {
  const { name, defaultBranch, isPrivate } = parent;
  const fork = await createRepository(world, `${ensureUser(world, login).login}/${name}`, {
    parent,
    defaultBranch,
    isPrivate,
    ownerType: 'User',
  });
  for (const [ref, sha] of await readRefs(fork.gitDir)) fork.refs.set(ref, sha);
  return fork;
}

export function renameRepository(world: World, repository: Repository, name: string): void {
  const from = repository.name;
  repository.formerNames.add(fullNameOf(repository).toLowerCase());
  repository.name = name;
  endRedirects(world, fullNameOf(repository));
  repository.updatedAt = world.now();
  world.announce({ event: 'repository', action: 'renamed', repository, sender: repository.owner, from });
}

/** A repository that takes a name over ends its redirects for good. */
function endRedirects(world: World, fullName: string): void {
  for (const { formerNames } of world.repositories.values()) formerNames.delete(fullName.toLowerCase());
}

export function deleteRepository(world: World, repository: Repository, sender: User): void {
  world.repositories.delete(repository.id);
  for (const other of world.repositories.values())
    for (const pr of other.pulls.values()) if (pr.headRepository === repository) pr.headRepository = undefined;
  world.announce({ event: 'repository', action: 'deleted', repository, sender });
}
