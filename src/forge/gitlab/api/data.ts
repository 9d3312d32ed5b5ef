import type { PrNumber } from '../../../engine/model/pull-request.ts';
import type { Sha } from '../../../lib/sha.ts';

/** The parts of GitLab's answers that are read here. */

export interface UserData {
  readonly id: number;
  readonly username: string;
  readonly state?: string;
  readonly bot?: boolean;
}

export interface ProjectData {
  readonly id: number;
  readonly path: string;
  readonly path_with_namespace: string;
  readonly namespace: { readonly full_path: string };
  readonly default_branch: string | null;
  readonly archived?: boolean;
  readonly ssh_url_to_repo?: string;
  readonly merge_method?: string;
  readonly squash_option?: string;
  readonly only_allow_merge_if_pipeline_succeeds?: boolean;
  readonly only_allow_merge_if_all_discussions_are_resolved?: boolean;
  readonly merge_requests_access_level?: string;
  readonly permissions?: {
    readonly project_access: { readonly access_level: number } | null;
    readonly group_access: { readonly access_level: number } | null;
  };
}

export interface MergeRequestData {
  readonly iid: PrNumber;
  readonly title: string;
  readonly description: string | null;
  readonly state: string;
  readonly updated_at: string;
  readonly target_branch: string;
  readonly source_branch: string;
  readonly author: UserData | null;
  readonly source_project_id: number | null;
  readonly target_project_id: number;
  readonly labels: readonly string[];
  readonly draft?: boolean;
  readonly detailed_merge_status?: string;
  readonly blocking_discussions_resolved?: boolean;
  readonly force_remove_source_branch?: boolean | null;
  readonly sha: Sha | null;
  readonly web_url: string;
  readonly head_pipeline?: PipelineData | null;
  readonly diverged_commits_count?: number;
}

export interface NoteData {
  readonly id: number;
  readonly body: string;
  readonly author: UserData | null;
  readonly system: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly noteable_type?: string;
  readonly noteable_iid?: number | null;
}

export interface LabelEventData {
  readonly id: number;
  readonly user: UserData | null;
  readonly created_at: string;
  readonly label: { readonly name: string } | null;
}

export interface PipelineData {
  readonly id: number;
  readonly project_id?: number;
  readonly sha: Sha;
  readonly ref: string;
  readonly source?: string;
  readonly status: string;
  readonly created_at: string;
  readonly web_url: string;
}

export interface JobData {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly created_at: string;
  readonly web_url: string;
  readonly failure_reason?: string;
}

/** Of jobs and of another CI, in one list. */
export interface StatusData {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly description: string | null;
  readonly target_url: string | null;
  readonly created_at: string;
  readonly author: UserData | null;
}

export interface ProtectedBranchData {
  readonly name: string;
  readonly push_access_levels: readonly {
    readonly access_level: number | null;
    readonly deploy_key_id?: number | null;
  }[];
}

export interface DeployKeyData {
  readonly id: number;
  readonly key: string;
  readonly can_push: boolean;
}

export interface HookData {
  readonly id: number;
  readonly url: string;
  readonly disabled_until?: string | null;
  readonly [event: `${string}_events`]: boolean | undefined;
}
