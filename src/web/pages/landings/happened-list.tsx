import { readEvents } from '../../core/events.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { Ago, Sentence } from '../../ui/text.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly title: string;
  readonly types: readonly string[];
  readonly after: string;
}

const MOST = 200;

/** Events of some types, newest first. Nothing is shown where there are none. */
export function HappenedList({ place, title, types, after }: Props) {
  const found = useResource(
    `happened ${keyOf(place)} ${types.join()} ${after}`,
    (signal) => readEvents(place.org, { ...queueBody(place), types, after }, MOST, signal),
    {
      isTouchedBy: (event) =>
        touches(place, event) && types.some((type) => event.type.startsWith(type.replace('*', ''))),
    },
  );
  const events = found.value?.events ?? [];
  if (events.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="count">{events.length}</span>
      </h2>
      <ul class="happened">
        {events.map(({ id, at, text, data }) => (
          <li key={id}>
            <span class="at">
              <Ago at={at} isClock />
            </span>
            <span>
              <Sentence text={text} />
              <Changes data={data} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Settings before and after, where an event has them. */
function Changes({ data }: { readonly data: object }) {
  const { changes } = data as { readonly changes?: Readonly<Record<string, { before?: unknown; after?: unknown }>> };
  if (changes === undefined || typeof changes !== 'object') return null;
  return (
    <span class="changes">
      {Object.entries(changes).map(([name, change]) => (
        <span key={name}>
          <code>{name}</code> {JSON.stringify(change.before)} → {JSON.stringify(change.after)}
        </span>
      ))}
    </span>
  );
}
