import { cleanFailure, type FailureText, groupFailure } from '../flaky/failure-group.ts';
import type { StoredFailure } from '../storage/test-ingest.ts';

const MAX_TEXT_LENGTH = 4_000;
const NOTHING: FailureText = { type: '', message: '', text: '' };

/** The stored description of a failure: without secrets, and cut to a readable length. */
export function describeFailure(failure: FailureText | null): Pick<StoredFailure, 'group' | 'summary' | 'text'> {
  const clean = cleanFailure(failure ?? NOTHING);
  const { key, summary } = groupFailure(clean);
  return { group: key, summary, text: cut(textOf(clean)) };
}

/** Most frameworks repeat the message at the beginning of the text. */
function textOf({ type, message, text }: FailureText): string {
  if (text === '') return message === '' ? type : message;
  return message === '' || text.includes(message) ? text : `${message}\n${text}`;
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const piece = text.slice(0, MAX_TEXT_LENGTH - 1);
  // Never splits a surrogate pair.
  return `${/[\ud800-\udbff]$/.test(piece) ? piece.slice(0, -1) : piece}…`;
}
