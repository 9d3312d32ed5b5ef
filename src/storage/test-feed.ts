import { inSuites } from '../flaky/core/paths.ts';
import { isPersonName } from '../lib/actor-name.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { TestChange } from './test-ingest.ts';
import type { TestEventRow, TestRow } from './tests.ts';

/** The parts of an event that depend on its kind. */
interface Told {
  readonly type: string;
  readonly text: string;
  readonly data: object;
}

// SPEC X8
export function feedOfChange(change: TestChange, seq: number, at: number): readonly FeedDraft[] {
  const { repositoryId } = change;
  const tests = new Map(change.tests.map((test) => [test.id, test]));
  const place = { source: `tests/${repositoryId}`, version: seq, organizationId: null, repositoryId };
  const nowhere = { queueId: null, targetBranch: null, prNumber: null, testId: null };
  const drafts = change.events.flatMap((event): Omit<FeedDraft, 'ordinal'>[] => {
    const told = tell(event, tests.get(event.testId));
    return told === undefined
      ? []
      : [{ ...place, ...nowhere, testId: event.testId, at: event.at, ...draft(told, event.actor) }];
  });
  for (const told of uploadsOf(change))
    drafts.push({ ...place, ...nowhere, at, ...draft(told, change.ignore?.actor ?? null) });
  return drafts.map((each, ordinal) => ({ ...each, ordinal }));
}

function draft({ type, text, data }: Told, actor: string | null): Pick<FeedDraft, 'type' | 'body'> {
  const by =
    actor === null
      ? { kind: 'sluice', name: 'sluice' }
      : { kind: isPersonName(actor) ? 'person' : 'token', name: actor };
  return { type, body: JSON.stringify({ actor: by, text, data }) };
}

export interface FeedDetail {
  readonly from?: string;
  readonly to?: string;
  readonly setting?: string;
  readonly reason?: string | null;
  /** Events of earlier versions have none. */
  readonly monitorName?: string;
  readonly suites?: readonly string[];
  readonly active?: readonly object[];
}

/** Undefined for the events of a test that are only in its own history. */
function tell(event: TestEventRow, test: TestRow | undefined): Told | undefined {
  const detail = JSON.parse(event.detail) as FeedDetail;
  const name = test === undefined ? 'A test' : `"${test.name}"`;
  const about = { codeowners: test?.codeowners ?? [], name: test?.name ?? null };
  const because = detail.reason ? ` ${detail.reason}` : '';
  switch (event.kind) {
    case 'status_changed':
      return {
        type: 'test_case.status_changed',
        text: `${name} is ${detail.to}, and was ${detail.from}.${because}`,
        data: { ...about, ...detail },
      };
    case 'monitor_activated':
    case 'monitor_resolved': {
      const isActive = event.kind === 'monitor_activated';
      const verb = isActive ? 'detects' : 'no longer detects';
      return {
        type: 'test_case.monitor_status_changed',
        text: `The monitor "${detail.monitorName}" ${verb} ${name}.${because}`,
        data: { ...about, ...detail, status: isActive ? 'active' : 'resolved' },
      };
    }
    case 'override_changed':
    case 'override_expired': {
      const { from = detail.setting, to = 'UNSPECIFIED' } = detail;
      const who = event.actor ?? 'Its end';
      return {
        type: 'test_case.quarantining_setting_changed',
        text: `${who} set the quarantine of ${name} from ${from} to ${to}${inSuites(detail.suites)}.${because}`,
        data: { ...about, ...detail, from, to },
      };
    }
    default:
      return undefined;
  }
}

function uploadsOf({ upload, ignore }: TestChange): Told[] {
  const told: Told[] = [];
  if (upload !== undefined && upload.status !== 'ACCEPTED') {
    const { uploadId, testRuns, counts, status, issues } = upload;
    const failed = counts === null ? '' : ` ${counts.failed} of ${counts.ran} tests failed.`;
    const text = `An upload with ${testRuns} test runs was processed.${failed}`;
    told.push({ type: 'upload.processed', text, data: { uploadId, status, testRuns, counts, issues: issues.length } });
  }
  if (ignore !== undefined) {
    const { uploadId, actor, reason } = ignore;
    told.push({ type: 'upload.ignored', text: `${actor} took an upload back. ${reason}`, data: { uploadId, reason } });
  }
  return told;
}
