/** Kinds of events that a webhook is made with. */
export const HOOK_EVENTS = [
  'push_events',
  'merge_requests_events',
  'note_events',
  'pipeline_events',
  'job_events',
] as const;
