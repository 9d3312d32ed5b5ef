import type {
  CheckRun,
  CheckSuite,
  Comment,
  CommitStatus,
  Installation,
  Label,
  Protection,
  PullRequest,
  Repository,
  Review,
  Role,
  Ruleset,
  User,
  WorkflowRun,
} from './model.ts';

/** A change, named after GitHub's webhook. It is announced after the state has changed. */
export type Happening =
  | (InRepository & { readonly event: 'pull_request'; readonly pr: PullRequest } & PullRequestAction)
  | (InRepository & {
      readonly event: 'pull_request_review';
      readonly action: 'submitted';
      readonly pr: PullRequest;
      readonly review: Review;
    })
  | (InRepository & {
      readonly event: 'issue_comment';
      readonly action: 'created' | 'edited' | 'deleted';
      readonly pr: PullRequest;
      readonly comment: Comment;
      /** The text before the edit. */
      readonly from?: string;
    })
  | (InRepository & {
      readonly event: 'push';
      /** The full name. Refs other than branches and tags are not announced. */
      readonly ref: string;
      /** Zeros when the ref did not exist before, or was deleted. */
      readonly before: string;
      readonly after: string;
      readonly isForced: boolean;
    })
  | (InRepository & {
      readonly event: 'check_run';
      readonly action: 'created' | 'completed';
      readonly check: CheckRun;
    })
  | (InRepository & {
      readonly event: 'check_suite';
      readonly action: 'completed';
      readonly suite: CheckSuite;
    })
  | (InRepository & { readonly event: 'status'; readonly status: CommitStatus })
  | (InRepository & {
      readonly event: 'workflow_run';
      readonly action: 'requested' | 'in_progress' | 'completed';
      readonly run: WorkflowRun;
    })
  | (InRepository & {
      readonly event: 'branch_protection_rule';
      readonly action: 'created' | 'edited' | 'deleted';
      readonly protection: Protection;
    })
  | (InRepository & {
      readonly event: 'repository_ruleset';
      readonly action: 'created' | 'deleted';
      readonly ruleset: Ruleset;
    })
  | (InRepository & {
      readonly event: 'repository';
      readonly action: 'created' | 'renamed' | 'transferred' | 'deleted';
      /** The former name or the former owner's login. */
      readonly from?: string;
    })
  | (InRepository & {
      readonly event: 'member';
      readonly action: 'added' | 'edited' | 'removed';
      readonly member: User;
      readonly role: Role;
    })
  | {
      readonly event: 'installation';
      readonly action: 'created' | 'deleted' | 'suspend' | 'unsuspend' | 'new_permissions_accepted';
      readonly installation: Installation;
      readonly repositories: readonly Repository[];
      readonly sender: User;
    }
  | {
      readonly event: 'installation_repositories';
      readonly action: 'added' | 'removed';
      readonly installation: Installation;
      readonly repositories: readonly Repository[];
      readonly sender: User;
    };

interface InRepository {
  readonly repository: Repository;
  readonly sender: User;
}

type PullRequestAction =
  | { readonly action: 'opened' | 'reopened' | 'closed' | 'converted_to_draft' | 'ready_for_review' }
  | { readonly action: 'synchronize'; readonly before: string; readonly after: string }
  | { readonly action: 'labeled' | 'unlabeled'; readonly label: Label }
  | { readonly action: 'edited'; readonly changes: PullRequestChanges };

export interface PullRequestChanges {
  readonly title?: { readonly from: string };
  readonly body?: { readonly from: string };
  readonly base?: { readonly ref: { readonly from: string }; readonly sha: { readonly from: string } };
}
