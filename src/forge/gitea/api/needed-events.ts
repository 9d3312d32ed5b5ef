/** Groups of events that a webhook is made with. */
export const HOOK_EVENTS = [
  'push',
  'create',
  'delete',
  'pull_request',
  'issue_comment',
  'status',
  'repository',
] as const;

/** Gitea lists the events of a webhook one by one. */
export const NEEDED_EVENTS = [
  ...['push', 'create', 'delete', 'status', 'repository', 'issue_comment'],
  ...['pull_request', 'pull_request_label', 'pull_request_sync', 'pull_request_review'],
];
