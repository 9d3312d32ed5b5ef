/** Permissions of the GitHub App. `sluice forge setup github` requests them, and `sluice forge check` verifies them. */
export const PERMISSIONS = {
  metadata: { access: 'read', label: 'Metadata', why: 'is part of everything' },
  contents: { access: 'write', label: 'Contents', why: 'test branches are pushed and pull requests merged' },
  pull_requests: { access: 'write', label: 'Pull requests', why: 'they are read, commented on and closed' },
  issues: { access: 'write', label: 'Issues', why: 'comments and labels of pull requests belong to it' },
  checks: { access: 'write', label: 'Checks', why: 'results are read, and the state in the queue is shown' },
  statuses: { access: 'read', label: 'Commit statuses', why: 'some CI reports with them' },
  administration: { access: 'read', label: 'Administration', why: 'classic branch protection is read' },
  actions: {
    access: 'write',
    label: 'Actions',
    why: 'workflow runs of forks are looked up, and runs of abandoned test branches cancelled',
  },
  workflows: { access: 'write', label: 'Workflows', why: 'pull requests that change workflows are tested too' },
} as const satisfies Record<string, { access: 'read' | 'write'; label: string; why: string }>;

/** Webhook events that the App subscribes to. */
export const EVENTS = [
  'branch_protection_rule',
  'check_run',
  'check_suite',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'push',
  'repository',
  'repository_ruleset',
  'status',
] as const;
