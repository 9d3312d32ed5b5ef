import type { Instant } from '../lib/clock.ts';

/** An event of the feed as the transaction stores it in which it happened. It has no place in the feed yet. */
export interface FeedDraft {
  /** Its source counts versions; events of one version have ordinals. All three together name the event. */
  readonly source: string;
  readonly version: number;
  readonly ordinal: number;
  readonly at: Instant;
  readonly type: string;
  /** Null: that of the repository, which the sequencer looks up. */
  readonly organizationId: string | null;
  /** Null: it concerns the whole organization. */
  readonly repositoryId: string | null;
  readonly queueId: string | null;
  readonly targetBranch: string | null;
  readonly prNumber: number | null;
  readonly testId: string | null;
  /** JSON: actor, text, data. */
  readonly body: string;
}

type Versioned = Pick<FeedDraft, 'source' | 'version'>;

/** Without the last version of a page that was cut: events of one version are told together, if they fit a page. */
export function wholeVersions<Row extends Versioned>(page: readonly Row[]): readonly Row[] {
  const last = page.at(-1);
  const whole = page.filter(({ source, version }) => source !== last?.source || version !== last.version);
  return whole.length === 0 ? page : whole;
}
