import { useSignal } from '@preact/signals';
import { call, callAgain } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { query } from '../../core/location.ts';
import { keyOf, nameOf, queueBody, touches } from '../../core/places.ts';
import type { AllTesting, Queue } from '../../core/replies.ts';
import { type Resource, useResource } from '../../core/resource.ts';
import type { QueuePlace, QueuePage as Tab } from '../../core/route.ts';
import { hasLeft, lookOfQueue } from '../../model/state.ts';
import { EntryList } from '../../ui/entry-list.tsx';
import { QueueHead, useTitle } from '../../ui/layout.tsx';
import { lazy } from '../../ui/lazy.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago, Sentence } from '../../ui/text.tsx';
import { Lanes } from './lanes.tsx';
import { QueueActions } from './queue-actions.tsx';
import { TimeTravel } from './time-travel.tsx';

const HealthPage = lazy(async () => (await import('../health/health.tsx')).HealthPage);
const LandingsPage = lazy(async () => (await import('../landings/landings.tsx')).LandingsPage);
const SettingsPage = lazy(async () => (await import('../settings/settings.tsx')).SettingsPage);
const SimulatorPage = lazy(async () => (await import('../simulator/simulator.tsx')).SimulatorPage);

export function QueuePage({ tab, ...place }: QueuePlace & { readonly tab?: Tab }) {
  return (
    <>
      <QueueHead place={place} tab={tab} />
      <QueueTab key={keyOf(place)} place={place} tab={tab} />
    </>
  );
}

function QueueTab({ place, tab }: { readonly place: QueuePlace; readonly tab: Tab | undefined }) {
  switch (tab) {
    case undefined:
      return <LiveQueue place={place} />;
    case 'landings':
      return <LandingsPage place={place} />;
    case 'settings':
      return <SettingsPage place={place} />;
    case 'simulator':
      return <SimulatorPage place={place} />;
    case 'health':
      return <HealthPage place={place} />;
  }
}

/** Reads the queue as it is, or as it was. */
export function useQueue(place: QueuePlace, at: string | undefined): Resource<Queue> {
  const body = { ...queueBody(place), includeExplanation: true };
  return useResource<Queue>(
    `queue ${keyOf(place)} ${at}`,
    (signal, last) =>
      at === undefined
        ? callAgain(place.org, 'pollQueue', { ...body, includeForecast: true }, { signal, last })
        : call(place.org, 'getQueue', { ...body, at }, { signal }),
    { isTouchedBy: (event) => at === undefined && touches(place, event) },
  );
}

function LiveQueue({ place }: { readonly place: QueuePlace }) {
  const at = query.value.get('at') ?? undefined;
  const queue = useQueue(place, at);
  const runs = useResource(
    `runs ${keyOf(place)} ${at}`,
    async (signal) => {
      const body = { ...queueBody(place), includeDecided: true, ...(at === undefined ? {} : { at }) };
      const reply = await call(place.org, 'getMergeQueueTestingDetails', body, { signal });
      return reply as AllTesting;
    },
    { isTouchedBy: (event) => at === undefined && touches(place, event) },
  );
  const look = queue.value === undefined ? undefined : lookOfQueue(queue.value);
  const word = look === undefined || look.word === 'Running' ? '' : `${look.word}: `;
  useTitle(`${word}${nameOf(place.repo)} ${place.branch}`, look?.tone);
  return (
    <Loaded of={queue} lines={10}>
      {(value) => (
        <>
          {at !== undefined && <TimeTravel place={place} at={at} />}
          <Summary place={place} queue={value} onChange={queue.refresh} isPast={at !== undefined} />
          <Lanes place={place} queue={value} testing={runs.value} />
          <Lists place={place} queue={value} />
          {at === undefined && <LeftLately place={place} />}
        </>
      )}
    </Loaded>
  );
}

interface SummaryProps {
  readonly place: QueuePlace;
  readonly queue: Queue;
  readonly isPast: boolean;
  readonly onChange: () => void;
}

function Summary({ place, queue, isPast, onChange }: SummaryProps) {
  const { state, held, frozen, parked, stateBy, stateReason, stateSince, stateUntil, forecast, learned } = queue;
  return (
    <section class="summary" aria-label="State of the queue">
      <div class="title-row">
        <h1>
          {place.branch} <State look={lookOfQueue(queue)} isLarge />
        </h1>
        {!isPast && <QueueActions place={place} queue={queue} onChange={onChange} />}
      </div>
      {state !== 'RUNNING' && parked === undefined && (
        <p>
          {stateSince !== undefined && (
            <>
              {stateBy === undefined ? 'Set' : `By ${stateBy}`} <Ago at={stateSince} />
            </>
          )}
          {stateReason !== undefined && <>: “{stateReason}”</>}
          {stateUntil !== undefined && (
            <>
              . It goes on by itself <Ago at={stateUntil} />
            </>
          )}
        </p>
      )}
      {parked !== undefined && <p class="banner bad">{parked.reason}</p>}
      {held !== undefined && (
        <p class="banner bad">
          <Sentence text={held.text} />
        </p>
      )}
      {frozen !== undefined && (
        <p class="banner warn">
          <Sentence text={frozen.text} />
        </p>
      )}
      {forecast?.text !== undefined && state === 'RUNNING' && (
        <p class="muted">
          Submitted now: <Sentence text={forecast.text} />
        </p>
      )}
      {learned !== undefined && <p class="muted">{learned.text}</p>}
    </section>
  );
}

const NOT_WAITING = ['TESTING', 'TESTS_PASSED', 'PENDING_FAILURE'];

function Lists({ place, queue }: { readonly place: QueuePlace; readonly queue: Queue }) {
  const entries = queue.enqueuedPullRequests;
  const busy = entries.filter(({ state }) => NOT_WAITING.includes(state ?? ''));
  const waiting = entries.filter(({ state }) => state === 'PENDING');
  const notReady = entries.filter(({ state }) => state === 'NOT_READY');
  if (entries.length === 0) {
    return (
      <Empty title="The queue is empty." isPart>
        <p>Submit a pull request here, by a comment or label at the forge, or on the command line:</p>
        <pre>
          <code>{`sluice pr submit 7 -R ${place.repo.host}/${nameOf(place.repo)}`}</code>
        </pre>
      </Empty>
    );
  }
  return (
    <>
      <EntryList place={place} title="Under test" entries={busy} />
      <EntryList place={place} title="Waiting" entries={waiting} />
      <EntryList place={place} title="Not ready" entries={notReady} />
    </>
  );
}

const HOUR_MS = 3_600_000;

function LeftLately({ place }: { readonly place: QueuePlace }) {
  const take = useSignal(20);
  const left = useResource(
    `left ${keyOf(place)} ${take.value}`,
    (signal) => {
      const since = new Date(now.peek() - HOUR_MS).toISOString();
      const body = { ...queueBody(place), since, take: take.value, includeExplanation: true };
      return call(place.org, 'listPullRequests', body, { signal });
    },
    { isTouchedBy: (event) => touches(place, event) && /^pull_request\.(merged|failed|canceled)$/.test(event.type) },
  );
  const entries = (left.value?.pullRequests ?? []).filter(hasLeft);
  if (entries.length === 0) return null;
  return (
    <>
      <EntryList place={place} title="Left in the last hour" entries={entries} isLeft />
      {left.value?.nextCursor !== undefined && take.value < 100 && (
        <button
          type="button"
          onClick={() => {
            take.value = 100;
          }}
        >
          Show more
        </button>
      )}
    </>
  );
}
