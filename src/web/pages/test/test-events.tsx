import { useSignal } from '@preact/signals';
import { call, type Reply } from '../../core/api.ts';
import { repoKey } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { type Look, lookOfTest } from '../../model/state.ts';
import { Loaded } from '../../ui/page-states.tsx';
import { Shape } from '../../ui/shape.tsx';
import { Ago, Sentence } from '../../ui/text.tsx';
import { isTouched, type TestPlace, testBody } from './place.ts';

type Event = Reply<'listTestEvents'>['events'][number];

const FEW = 10;
const MANY = 100;

/** The events of the test with their reasons, newest first. */
export function TestEvents({ place }: { readonly place: TestPlace }) {
  const size = useSignal(FEW);
  const events = useResource(
    `events ${repoKey(place)} ${place.testId} ${size.value}`,
    (signal) =>
      call(place.org, 'listTestEvents', { ...testBody(place), page_query: { page_size: size.value } }, { signal }),
    { isTouchedBy: (event) => isTouched(place, event) },
  );
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      <Loaded of={events} lines={4}>
        {({ events: all, page }) => (
          <>
            {all.length === 0 && <p class="muted">Nothing yet.</p>}
            <ol class="timeline">
              {all.map((event, index) => (
                <EventLine key={`${event.at} ${index}`} event={event} />
              ))}
            </ol>
            {page.total_rows > all.length && size.value === FEW && (
              <button
                type="button"
                onClick={() => {
                  size.value = MANY;
                }}
              >
                Show {Math.min(MANY, page.total_rows) - all.length} more
              </button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function EventLine({ event }: { readonly event: Event }) {
  const look = lookOf(event);
  return (
    <li class={`tone-${look.tone}`}>
      <Shape name={look.shape} />
      <span class="at">
        <Ago at={event.at} isClock />
      </span>
      <span>
        <Sentence text={event.text} />
        {event.actor !== undefined && !event.text.startsWith(event.actor) && (
          <span class="muted"> by {event.actor}</span>
        )}
        {event.reason !== undefined && event.reason !== '' && (
          <span class="because">
            <Sentence text={event.reason} />
          </span>
        )}
      </span>
    </li>
  );
}

const QUIET: Look = { word: '', shape: 'ring', tone: 'quiet' };

function lookOf({ kind, to }: Event): Look {
  if (kind === 'STATUS_CHANGED') return lookOfTest(to ?? '');
  if (kind === 'MONITOR_ACTIVATED' || kind === 'TEST_FLAGGED') return { word: '', shape: 'mark', tone: 'warn' };
  if (kind === 'MONITOR_RESOLVED' || kind === 'TEST_UNFLAGGED') return { word: '', shape: 'check', tone: 'good' };
  return QUIET;
}
