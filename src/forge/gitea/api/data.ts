import type { PrNumber } from '../../../engine/model/pull-request.ts';
import type { Sha } from '../../../lib/sha.ts';

/** The parts of Gitea's answers that are read here. */

export interface AccountData {
  readonly id: number;
  readonly login: string;
}

export interface RepositoryData {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly owner: { readonly login: string };
  readonly archived?: boolean;
  readonly has_pull_requests?: boolean;
  readonly default_branch?: string;
  readonly default_delete_branch_after_merge?: boolean;
  readonly allow_manual_merge?: boolean;
  readonly permissions?: { readonly admin: boolean };
}

export interface PullData {
  readonly number: PrNumber;
  readonly title: string;
  readonly body: string | null;
  readonly html_url: string;
  readonly state: 'open' | 'closed';
  readonly draft?: boolean;
  readonly merged?: boolean;
  readonly merged_at?: string | null;
  readonly merged_by?: AccountData | null;
  readonly merge_commit_sha?: Sha | null;
  readonly mergeable?: boolean;
  readonly merge_base?: Sha;
  readonly updated_at: string;
  readonly user: AccountData | null;
  readonly labels: readonly LabelData[] | null;
  readonly head: {
    readonly ref: string;
    readonly sha: Sha;
    readonly repo_id: number;
  };
  readonly base: {
    readonly ref: string;
    readonly sha: Sha | '';
    readonly repo_id: number;
    readonly repo?: { readonly id: number; readonly name: string; readonly owner: { readonly login: string } } | null;
  };
}

export interface LabelData {
  readonly id: number;
  readonly name: string;
}

export interface StatusData {
  readonly id: number;
  readonly status: string;
  readonly context: string;
  readonly description: string | null;
  readonly target_url: string | null;
  readonly creator: AccountData | null;
  readonly created_at: string;
}

export interface BranchData {
  readonly name: string;
  readonly commit: { readonly id: Sha };
  readonly protected: boolean;
  readonly effective_branch_protection_name: string;
  /** Shown to accounts that may not read the protection itself. */
  readonly enable_status_check?: boolean;
  readonly status_check_contexts?: readonly string[] | null;
  readonly required_approvals?: number;
  readonly user_can_push: boolean;
  readonly user_can_merge: boolean;
}

export interface ProtectionData {
  readonly rule_name: string;
  readonly enable_push?: boolean;
  readonly push_whitelist_usernames?: readonly string[] | null;
  readonly enable_status_check?: boolean;
  readonly status_check_contexts?: readonly string[] | null;
  readonly required_approvals?: number;
  readonly enable_approvals_whitelist?: boolean;
  readonly approvals_whitelist_username?: readonly string[] | null;
  readonly approvals_whitelist_teams?: readonly string[] | null;
  readonly block_on_rejected_reviews?: boolean;
  readonly block_on_official_review_requests?: boolean;
  readonly block_on_outdated_branch?: boolean;
  readonly ignore_stale_approvals?: boolean;
  readonly require_signed_commits?: boolean;
  readonly protected_file_patterns?: string;
  readonly block_admin_merge_override?: boolean;
}

export interface ReviewData {
  readonly user: AccountData | null;
  readonly commit_id: string;
  readonly state: string;
  readonly stale: boolean;
  readonly official: boolean;
  readonly dismissed: boolean;
}

export interface CommentData {
  readonly id: number;
  readonly body: string;
  readonly user: AccountData | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly pull_request_url?: string;
}

export interface TimelineData {
  readonly id: number;
  readonly type: string;
  readonly user: AccountData | null;
  readonly body: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly label?: LabelData | null;
}

export interface HookData {
  readonly id: number;
  readonly active: boolean;
  readonly events: readonly string[] | null;
  readonly config: { readonly url?: string };
}
