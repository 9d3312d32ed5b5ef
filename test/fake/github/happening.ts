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
export type Happening = { [Event in keyof Events]: { readonly event: Event } & Readonly<Events[Event]> }[keyof Events];

interface Events {
  pull_request: InRepository & { pr: PullRequest } & PullRequestAction;
  pull_request_review: InRepository & { action: 'submitted'; pr: PullRequest; review: Review };
  /** `from` is the text before the edit. */
  issue_comment: InRepository & {
    action: 'created' | 'edited' | 'deleted';
    pr: PullRequest;
    comment: Comment;
    from?: string;
  };
  /** A full name. Refs other than branches and tags are not announced. Zeros stand for a ref that does not exist. */
  push: InRepository & { ref: string; before: string; after: string; isForced: boolean };
  check_run: InRepository & { action: 'created' | 'completed'; check: CheckRun };
  check_suite: InRepository & { action: 'completed'; suite: CheckSuite };
  status: InRepository & { status: CommitStatus };
  workflow_run: InRepository & { action: 'requested' | 'in_progress' | 'completed'; run: WorkflowRun };
  branch_protection_rule: InRepository & { action: 'created' | 'edited' | 'deleted'; protection: Protection };
  repository_ruleset: InRepository & { action: 'created' | 'deleted'; ruleset: Ruleset };
  /** `from` is the former name or the former owner's login. */
  repository: InRepository & { action: 'created' | 'renamed' | 'deleted'; from?: string };
  member: InRepository & { action: 'added' | 'edited' | 'removed'; member: User; role: Role };
  installation: OfApp & { action: 'created' | 'deleted' | 'suspend' | 'unsuspend' | 'new_permissions_accepted' };
  installation_repositories: OfApp & { action: 'added' | 'removed' };
}

interface InRepository {
  readonly repository: Repository;
  readonly sender: User;
}

interface OfApp {
  readonly installation: Installation;
  readonly repositories: readonly Repository[];
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
