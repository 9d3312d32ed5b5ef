import type { Repository } from '../model.ts';
import { fullNameOf } from '../world.ts';
import { userView } from './account-view.ts';

/** The short form inside other objects. */
export function shortRepositoryView(repository: Repository) {
  const { id, nodeId, name, owner, isPrivate, parent } = repository;
  return {
    id,
    node_id: nodeId,
    name,
    full_name: fullNameOf(repository),
    private: isPrivate,
    owner: userView(owner),
    fork: parent !== undefined,
  };
}

export function repositoryView(repository: Repository) {
  const { defaultBranch, isPrivate, isArchived, settings } = repository;
  return {
    ...shortRepositoryView(repository),
    default_branch: defaultBranch,
    visibility: isPrivate ? 'private' : 'public',
    archived: isArchived,
    allow_squash_merge: settings.allowSquash,
    allow_merge_commit: settings.allowMerge,
    allow_rebase_merge: settings.allowRebase,
    delete_branch_on_merge: settings.deleteBranchOnMerge,
  };
}
