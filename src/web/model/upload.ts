import type { Look } from './state.ts';

const UPLOADS: Readonly<Record<string, Look>> = {
  ACCEPTED: { word: 'Waits', shape: 'ring', tone: 'quiet' },
  PROCESSED: { word: 'Processed', shape: 'check', tone: 'good' },
  SKIPPED: { word: 'Does not count', shape: 'dash', tone: 'warn' },
  FAILED: { word: 'Failed', shape: 'cross', tone: 'bad' },
};

export function lookOfUpload(status: string): Look {
  return UPLOADS[status] ?? { word: status, shape: 'dash', tone: 'quiet' };
}

const ISSUES: Readonly<Record<string, Look>> = {
  error: { word: 'Error:', shape: 'cross', tone: 'bad' },
  warning: { word: 'Warning:', shape: 'mark', tone: 'warn' },
  info: { word: 'Note:', shape: 'dot', tone: 'quiet' },
};

export function lookOfIssue(level: string): Look {
  return ISSUES[level] ?? { word: `${level}:`, shape: 'dot', tone: 'quiet' };
}

const FLAWS: Readonly<Record<string, string>> = {
  FORK: 'the commit is a fork’s',
  UNKNOWN_COMMIT: 'the repository has no such commit',
  OUTAGE: 'so many tests failed at once that something else was broken',
  IGNORED: 'somebody took it back',
};

interface Evidence {
  readonly evidence: string;
  readonly no_evidence_because: string | null;
}

/** Tells whether its runs decide anything. */
export function evidenceOf({ evidence, no_evidence_because: flaw }: Evidence): string {
  if (evidence === 'STATUSES') return 'evidence for statuses';
  return flaw === null ? 'evidence for nothing' : `evidence for nothing: ${FLAWS[flaw] ?? flaw}`;
}
