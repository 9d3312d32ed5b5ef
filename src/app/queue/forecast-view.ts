import type { Forecast as ForecastSchema } from '../../contract/entry.ts';
import type { View } from '../../contract/schema.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry, isAdmitted } from '../../engine/model/queue.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { ENOUGH_RUNS } from '../../policy/forecast.ts';
import {
  BEING_MADE_TEXT,
  forecastFailedText,
  forecastText,
  NOT_READY_TEXT,
  tooFewRunsText,
  unforeseeableText,
} from '../../words/forecast.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import type { ListEntryView } from './entry-view.ts';

type ForecastView = View<typeof ForecastSchema>;

// SPEC Z1
export function viewForecast(app: App, found: LoadedQueue, now: Instant, entry?: Entry): ForecastView {
  const unforeseeable = unforeseeableText(found.queue);
  if (unforeseeable !== undefined) return { text: unforeseeable };
  if (entry !== undefined && !isAdmitted(entry)) return { text: NOT_READY_TEXT };
  const known = app.forecasts.find(found);
  if (known === undefined) return viewMissing(app, found, now);
  const { samples, runs, since } = known.basis;
  if (samples === 0) return { text: tooFewRunsText(runs, ENOUGH_RUNS) };
  const forecast = entry === undefined ? known.next : known.entries.get(entry.prNumber);
  if (forecast === undefined) return viewMissing(app, found, now);
  const { landsAtP50, landsAtP95, chanceToLand } = forecast;
  return {
    text: forecastText(forecast, now),
    ...present({ landsAtP50: optionalInstant(landsAtP50), landsAtP95: optionalInstant(landsAtP95) }),
    chanceToLand: Math.round(chanceToLand * 100) / 100,
    basis: { samples, runs, since: formatInstant(since ?? known.madeAt) },
  };
}

function viewMissing(app: App, { id }: LoadedQueue, now: Instant): ForecastView {
  const retriesAt = app.forecasts.retriesAt(id);
  if (retriesAt === undefined || retriesAt <= now) return { text: BEING_MADE_TEXT, isBeingMade: true };
  return { text: forecastFailedText(retriesAt, now) };
}

/** To each entry of a list that is live. */
export function addForecasts(app: App, found: LoadedQueue, views: readonly ListEntryView[]): readonly ListEntryView[] {
  const now = app.clock.now();
  return views.map((view) => {
    const entry = findEntry(found.queue, view.prNumber as PrNumber);
    return entry === undefined ? view : { ...view, forecast: viewForecast(app, found, now, entry) };
  });
}
