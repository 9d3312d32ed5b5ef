import { call, type Reply } from '../../core/api.ts';
import { query, setQuery } from '../../core/location.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { formatDuration } from '../../model/time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { EntryList } from '../../ui/entry-list.tsx';
import { useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { daysShown, Range } from '../../ui/range.tsx';

type Health = Reply<'getQueueHealth'>;
type Bucket = Health['buckets'][number];

/** How the queue did: what landed, how long it took, and what it cost. */
export function HealthPage({ place }: { readonly place: QueuePlace }) {
  useTitle(`Health of ${place.branch}`);
  const days = daysShown();
  const health = useResource(
    `health ${keyOf(place)} ${days}`,
    (signal) => call(place.org, 'getQueueHealth', { ...queueBody(place), days }, { signal }),
    { isTouchedBy: (event) => touches(place, event) && /^pull_request\.(merged|failed|canceled)$/.test(event.type) },
  );
  return (
    <>
      <div class="title-row">
        <h1>Health</h1>
        <Range days={days} />
      </div>
      <Loaded of={health}>{(value) => <Shown place={place} health={value} days={days} />}</Loaded>
    </>
  );
}

function Shown({
  place,
  health,
  days,
}: {
  readonly place: QueuePlace;
  readonly health: Health;
  readonly days: number;
}) {
  const { total, buckets, reasons, serialises, fewestRunsPerDecided, bucketSeconds } = health;
  const decided = total.landed + total.removed;
  const chosen = buckets.find(({ from }) => from === query.value.get('from'));
  const labelOf = (from: string) => labelAt(from, days);
  const choose = (from: string) => setQuery({ from: from === chosen?.from ? undefined : from });
  const bars = (parts: (bucket: Bucket) => { name: string; value: number; tone: string }[]) =>
    buckets.map((bucket) => ({ key: bucket.from, parts: parts(bucket) }));
  const common = { labelOf, chosen: chosen?.from, onChoose: choose };
  if (decided + total.cancelled === 0) {
    return (
      <Empty title="Nothing left the queue in this time" isPart>
        <p>Choose a longer time, or land a pull request.</p>
      </Empty>
    );
  }
  const perDecided = (bucket: Pick<Bucket, 'runs' | 'landed' | 'removed'>) =>
    bucket.runs / Math.max(1, bucket.landed + bucket.removed);
  return (
    <>
      <dl class="key-figures">
        <Figure name="landed" value={String(total.landed)} />
        <Figure name="removed" value={`${total.removed} (${percent(total.removed, decided)})`} />
        <Figure name="half land within" value={durationOf(total.p50Seconds)} />
        <Figure name="95% land within" value={durationOf(total.p95Seconds)} />
        <Figure name="CI runs per decided pull request" value={perDecided(total).toFixed(2)} />
        <Figure name="CI time" value={formatDuration(total.ciSeconds * 1_000)} />
        <Figure name="runs saved by reused trees" value={String(total.reusedTrees)} />
      </dl>
      <div class="charts">
        <BarChart
          title="Left the queue"
          unit="pull requests"
          {...common}
          bars={bars(({ landed, removed, cancelled }) => [
            { name: 'landed', value: landed, tone: 'good' },
            { name: 'removed', value: removed, tone: 'bad' },
            { name: 'cancelled', value: cancelled, tone: 'quiet' },
          ])}
        />
        <BarChart
          title="Time in the queue: half, and 95 of 100"
          unit="minutes"
          {...common}
          bars={bars(({ p50Seconds = 0, p95Seconds = 0 }) => [
            { name: 'minutes for half', value: p50Seconds / 60, tone: 'busy' },
            { name: 'more for 95 of 100', value: (p95Seconds - p50Seconds) / 60, tone: 'quiet' },
          ])}
        />
        <BarChart
          title="CI runs per decided pull request"
          unit="runs"
          {...common}
          limit={
            fewestRunsPerDecided === undefined ? undefined : { value: fewestRunsPerDecided, name: 'the least possible' }
          }
          bars={bars((bucket) => [{ name: 'runs', value: perDecided(bucket), tone: 'busy' }])}
        />
        <BarChart
          title="Runs at once, on average"
          unit="runs"
          {...common}
          bars={bars(({ ciSeconds }) => [{ name: 'runs', value: ciSeconds / bucketSeconds, tone: 'busy' }])}
        />
      </div>
      {chosen !== undefined && <Behind place={place} from={chosen.from} seconds={bucketSeconds} />}
      <Shares
        title="Why pull requests were removed"
        rows={reasons.map(({ reason, count }) => ({ name: sayReason(reason), count }))}
      />
      <Shares
        title="Why pull requests were tested one behind the other"
        rows={serialises.map(({ kind, name, pairs }) => ({ name: sayLaneReason(kind, name), count: pairs }))}
      />
    </>
  );
}

/** Each row with its share of the whole. */
function Shares({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly count: number }[];
}) {
  const sum = rows.reduce((all, { count }) => all + count, 0);
  if (sum === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="shares">
        {rows.map(({ name, count }) => (
          <li key={name}>
            <span>{name}</span>
            <progress max={sum} value={count} aria-label={name} />
            <span class="figure">{count}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dd>{value}</dd>
      <dt>{name}</dt>
    </div>
  );
}

/** The pull requests behind a bar. */
function Behind({
  place,
  from,
  seconds,
}: {
  readonly place: QueuePlace;
  readonly from: string;
  readonly seconds: number;
}) {
  const left = useResource(`behind ${keyOf(place)} ${from}`, (signal) => {
    const until = new Date(Date.parse(from) + seconds * 1_000 - 1).toISOString();
    const body = { ...queueBody(place), since: from, until, take: 100, includeExplanation: true };
    return call(place.org, 'listPullRequests', body, { signal });
  });
  return (
    <Loaded of={left} lines={3}>
      {({ pullRequests }) => (
        <EntryList place={place} title={`Left the queue from ${labelAt(from, 1)}`} entries={pullRequests} isLeft />
      )}
    </Loaded>
  );
}

function labelAt(from: string, days: number): string {
  const at = new Date(from);
  if (days === 1) return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

function durationOf(seconds: number | undefined): string {
  return seconds === undefined ? '–' : formatDuration(seconds * 1_000);
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((100 * part) / whole)}%`;
}

const LANE_REASONS: Readonly<Record<string, (name: string) => string>> = {
  TARGET: (name) => `Both have the target ${name}`,
  UPLOADED_ALL: () => 'One was uploaded as ALL',
  BARRIER: (name) => `One changes ${name}, a barrier`,
  MANIFEST: (name) => `One changes the manifest ${name}`,
  OTHERWISE: () => 'One changes a file that no rule matches',
};

function sayLaneReason(kind: string, name: string): string {
  return LANE_REASONS[kind]?.(name) ?? name;
}

function sayReason(reason: string): string {
  const words = reason
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\bpr\b/g, 'pull request');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
