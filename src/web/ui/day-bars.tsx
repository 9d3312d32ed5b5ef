import { useMemo } from 'preact/hooks';
import { barsOf, type Days, formatDay, pathsOf, sentenceOfDays } from '../model/days.ts';
import { useBars } from './use-bars.ts';

const SMALL = { width: 149, height: 28, gap: 1, least: 4 };

/** The last days of a test as small bars, for a line of a list. */
export function DayBars({ days }: { readonly days: Days }) {
  const paths = useMemo(() => pathsOf(days, SMALL), [days]);
  return (
    <svg class="days" viewBox={`0 0 ${SMALL.width} ${SMALL.height}`} role="img" aria-label={sentenceOfDays(days)}>
      <path class="none" d={paths.none} />
      <path class="passed" d={paths.passed} />
      <path class="failed" d={paths.failed} />
    </svg>
  );
}

const LARGE = { width: 899, height: 120, gap: 5, least: 4 };

/** The same as a picture of its own, with a scale, and each day on hover or focus. */
export function DayChart({ days }: { readonly days: Days }) {
  const bars = useMemo(() => barsOf(days, LARGE), [days]);
  const keysOf = useBars(bars.length);
  const most = Math.max(...days.runs);
  const { width, height } = LARGE;
  return (
    <figure class="day-chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-label={sentenceOfDays(days)}>
        {bars.map((bar, day) => (
          // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it is focused to be read, and does nothing
          <g key={bar.x} role="img" aria-label={tellDay(days, day)} {...keysOf(day)}>
            <title>{tellDay(days, day)}</title>
            <rect class="hover" x={bar.x} y={0} width={bar.width} height={height} />
            {bar.failed + bar.passed === 0 && (
              <rect class="none" x={bar.x} y={height - 1} width={bar.width} height={1} />
            )}
            <rect class="passed" x={bar.x} y={height - bar.failed - bar.passed} width={bar.width} height={bar.passed} />
            <rect class="failed" x={bar.x} y={height - bar.failed} width={bar.width} height={bar.failed} />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{formatDay(days, 0)}</span>
        <span class="legend">
          <span class="passed">passed</span>
          <span class="failed">failed</span>
          {most > 0 && <span>busiest day: {most.toLocaleString('en-US')} runs</span>}
        </span>
        <span>today</span>
      </figcaption>
    </figure>
  );
}

function tellDay(days: Days, day: number): string {
  const runs = days.runs[day] ?? 0;
  return runs === 0
    ? `${formatDay(days, day)}: no run`
    : `${formatDay(days, day)}: ${days.failures[day] ?? 0} of ${runs} failed`;
}
