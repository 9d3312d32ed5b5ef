import { present } from '../../lib/present.ts';
import type { CheckRunDraft } from '../hosting.ts';

/** Forges refuse longer descriptions. */
const MAX_DESCRIPTION = 140;

export function statusOf({ status, conclusion, name, title, url }: CheckRunDraft) {
  const ended = STATES[conclusion ?? 'NEUTRAL'];
  return {
    state: status === 'COMPLETED' ? ended : 'pending',
    context: name,
    description: title.slice(0, MAX_DESCRIPTION),
    ...present({ target_url: url }),
  };
}

const STATES = { SUCCESS: 'success', FAILURE: 'failure', CANCELLED: 'error', NEUTRAL: 'success' } as const;
