import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { query, setQuery } from '../../core/location.ts';
import { keyOf, queueBody } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { nearest, step } from '../../model/moments.ts';
import { formatClock, formatExact } from '../../model/time.ts';

const HOUR_MS = 3_600_000;
/** Around the instant that is shown. */
const SPAN_MS = 2 * HOUR_MS;
const PLAY_MS = 900;

/** The instants at which a queue changed, on a slider. Pages show the queue as it was at the chosen one. */
export function TimeTravel({ place, at }: { readonly place: QueuePlace; readonly at: string }) {
  const chosen = Date.parse(at);
  const isPlaying = useSignal(false);
  // The window moves in whole steps, so that a step does not read it again.
  const middle = Math.round(chosen / SPAN_MS) * SPAN_MS;
  const moments = useResource(`moments ${keyOf(place)} ${middle}`, (signal) => listMoments(place, middle, signal));
  const instants = moments.value ?? [];
  const index = nearest(instants, chosen);
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    const timer = setInterval(() => {
      const next = step(instants, Date.parse(query.value.get('at') ?? ''), 1);
      if (next === undefined) isPlaying.value = false;
      else show(next);
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [isPlaying, isPlaying.value, instants]);
  return (
    <section class="travel" aria-label="Time travel">
      <p>
        <strong>As it was</strong> <time title={formatExact(chosen)}>{formatClock(chosen, now.value)}</time>
        <span class="muted"> · {instants.length} changes within two hours</span>
      </p>
      <input
        type="range"
        aria-label="Instant"
        min={0}
        max={Math.max(0, instants.length - 1)}
        value={index}
        disabled={instants.length === 0}
        aria-valuetext={formatClock(chosen, now.value)}
        onInput={(event) => show(instants[Number(event.currentTarget.value)])}
      />
      <div class="actions">
        <button type="button" onClick={() => show(step(instants, chosen, -1))} title="The change before">
          ◂ Back
        </button>
        <button
          type="button"
          onClick={() => {
            isPlaying.value = !isPlaying.value;
          }}
        >
          {isPlaying.value ? 'Stop' : 'Play'}
        </button>
        <button type="button" onClick={() => show(step(instants, chosen, 1))} title="The change after">
          On ▸
        </button>
        <button type="button" class="main" onClick={() => setQuery({ at: undefined })}>
          Now
        </button>
      </div>
    </section>
  );
}

function show(instant: number | undefined): void {
  if (instant !== undefined) setQuery({ at: new Date(instant).toISOString() });
}

async function listMoments(place: QueuePlace, middle: number, signal: AbortSignal): Promise<readonly number[]> {
  const found: number[] = [];
  const span = { after: new Date(middle - SPAN_MS).toISOString(), before: new Date(middle + SPAN_MS).toISOString() };
  let cursor: string | undefined;
  do {
    const body = { ...queueBody(place), ...span, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const page = await call(place.org, 'listQueueMoments', body, { signal });
    for (const { at } of page.moments) if (found.at(-1) !== Date.parse(at)) found.push(Date.parse(at));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < 2_000);
  return found;
}
