import type { ReplyOf } from '../../contract/operation.ts';
import type { listTestEvents } from '../../contract/test-history.ts';
import { inSuites } from '../../flaky/core/paths.ts';
import type { Evidence, LabelSource } from '../../flaky/core/state.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { FeedDetail } from '../../storage/test-feed.ts';
import type { TestEventRow } from '../../storage/tests.ts';
import { viewEvidence } from './test-view.ts';

export type TestEventView = ReplyOf<typeof listTestEvents>['events'][number];

/** The union of the details of all kinds. */
interface Detail extends FeedDetail {
  readonly monitorId?: string;
  readonly type?: string;
  readonly cause?: string;
  readonly label?: string;
  readonly source?: LabelSource['source'];
  readonly until?: Instant | null;
  readonly expiresAt?: Instant | null;
  readonly hasExpired?: boolean;
  readonly isQuarantined?: boolean;
  readonly url?: string;
  readonly previousUrl?: string | null;
  readonly evidence?: Evidence;
}

export function viewTestEvent(row: TestEventRow, monitorNames: ReadonlyMap<string, string>): TestEventView {
  const detail = JSON.parse(row.detail) as Detail;
  const { reason, from = detail.setting, to, type, label } = detail;
  const monitorId = detail.monitorId ?? (detail.source?.kind === 'monitor' ? detail.source.id : undefined);
  const until = detail.until ?? detail.expiresAt;
  const url = detail.url ?? detail.previousUrl;
  const monitor = nameMonitor(monitorNames.get(monitorId ?? '') ?? detail.monitorName ?? type);
  return {
    at: formatInstant(row.at),
    kind: row.kind.toUpperCase(),
    text: capitalized(describe(row, detail, monitor)),
    ...present({ actor: row.actor, reason: reason || null, from, to, monitor_id: monitorId, monitor_type: type }),
    ...present({ label, suites: detail.suites, until: optionalInstant(until), url }),
    ...present({ evidence: detail.evidence && viewEvidence(detail.evidence) }),
  };
}

function nameMonitor(name: string | undefined): string {
  return name === undefined ? 'a monitor that is gone' : `the monitor "${name}"`;
}

function describe({ kind, actor }: TestEventRow, detail: Detail, monitor: string): string {
  const who = actor ?? (detail.source?.kind === 'monitor' ? monitor : 'Sluice');
  switch (kind) {
    case 'status_changed':
      return `the status changed from ${detail.from} to ${detail.to}.`;
    case 'monitor_activated':
      return `${monitor} detected it.`;
    case 'monitor_resolved':
      return `${monitor} no longer detects it: ${detail.cause}.`;
    case 'monitor_muted':
      return `${who} muted ${monitor}.`;
    case 'monitor_unmuted':
      return detail.hasExpired === true ? `the mute of ${monitor} ended.` : `${who} ended the mute of ${monitor}.`;
    case 'test_flagged':
      return `${who} flagged it as flaky.`;
    case 'test_unflagged':
      return `${who} took the flag away.`;
    case 'upload_ignored':
      return `${who} took back an upload in which it ran.`;
    case 'label_added':
      return `${who} put the label "${detail.label}" on.`;
    case 'label_removed':
      return `${who} took the label "${detail.label}" away.`;
    default:
      return describeDecision(kind, who, detail);
  }
}

function describeDecision(kind: string, who: string, detail: Detail): string {
  switch (kind) {
    case 'quarantine_changed':
      return detail.isQuarantined === true ? 'it is quarantined.' : 'it is no longer quarantined.';
    case 'override_changed':
      return `${who} set the quarantine from ${detail.from} to ${detail.to}${inSuites(detail.suites)}.`;
    case 'override_expired':
      return `the setting ${detail.setting} of its quarantine has ended.`;
    case 'ticket_linked':
      return `${who} linked a ticket.`;
    case 'ticket_unlinked':
      return `${who} took the link to the ticket away.`;
    default:
      return `${kind.replaceAll('_', ' ')}.`;
  }
}

/** A person's name stays as it is written. */
function capitalized(sentence: string): string {
  return /^(the|it|a monitor) /.test(sentence) ? sentence.charAt(0).toUpperCase() + sentence.slice(1) : sentence;
}
