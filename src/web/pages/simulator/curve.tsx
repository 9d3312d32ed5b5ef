import { formatHours, formatMinutes } from '../../model/number.ts';
import { findFree } from '../../model/simulation.ts';
import { nameOfReplay, type Replay } from './name-of-replay.ts';

const WIDTH = 640;
const HEIGHT = 300;
const EDGE = { left: 72, right: 32, top: 16, bottom: 48 };

interface Props {
  readonly replays: readonly Replay[];
  readonly tried?: Replay;
}

interface Point {
  readonly kind: 'tried' | 'present' | 'adaptive';
  readonly replay: Replay;
  readonly hours: number;
  readonly minutes: number;
}

/** Time to land against hours of CI. To the left is cheaper, further down is faster. */
export function Curve({ replays, tried }: Props) {
  const points = [
    ...(tried === undefined ? [] : toPoint('tried', tried)),
    ...replays.flatMap((replay) => toPoint(replay.runCost === undefined ? 'present' : 'adaptive', replay)),
  ];
  if (points.length < 2) return null;
  const mostHours = niceEnd(Math.max(...points.map(({ hours }) => hours)));
  const mostMinutes = niceEnd(Math.max(...points.map(({ minutes }) => minutes)));
  const x = (hours: number) => EDGE.left + (hours / mostHours) * (WIDTH - EDGE.left - EDGE.right);
  const y = (minutes: number) => HEIGHT - EDGE.bottom - (minutes / mostMinutes) * (HEIGHT - EDGE.top - EDGE.bottom);
  const line = points.filter(({ kind }) => kind === 'adaptive').sort((a, b) => a.hours - b.hours);
  const places = points.map(({ hours, minutes }) => ({ x: x(hours), y: y(minutes) }));
  const labelled = findFree(places);
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={points.map(describe).join('; ')}>
        {[0, 0.5, 1].map((part) => (
          <g key={part} class="axis">
            <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(part * mostMinutes)} y2={y(part * mostMinutes)} />
            <text x={EDGE.left - 8} y={y(part * mostMinutes) + 4} text-anchor="end">
              {formatMinutes(part * mostMinutes)}
            </text>
            <text x={x(part * mostHours)} y={HEIGHT - 28} text-anchor="middle">
              {formatHours(part * mostHours)}
            </text>
          </g>
        ))}
        <text class="name" x={(EDGE.left + WIDTH - EDGE.right) / 2} y={HEIGHT - 6} text-anchor="middle">
          hours of CI
        </text>
        <polyline points={line.map(({ hours, minutes }) => `${x(hours)},${y(minutes)}`).join(' ')} />
        {points
          .map((point, index) => ({ ...point, isLabelled: labelled.has(index) }))
          .reverse()
          .map(({ kind, replay, hours, minutes, isLabelled }) => (
            <g key={`${kind} ${replay.runCost}`} class={kind}>
              <circle cx={x(hours)} cy={y(minutes)} r={kind === 'adaptive' ? 4 : 7} />
              <title>{describe({ kind, replay, hours, minutes })}</title>
              {isLabelled && (
                <text class="label" {...labelPlace(x(hours))} y={y(minutes) + 4}>
                  {LABELS[kind] ?? replay.runCost}
                </text>
              )}
            </g>
          ))}
      </svg>
      <figcaption class="muted">
        How long half of the pull requests take to land, by the hours of CI that all of them cost. Numbers are prices of
        a run with ADAPTIVE.
      </figcaption>
    </figure>
  );
}

const LABELS: Readonly<Record<string, string>> = { tried: 'tried', present: 'as it is' };

function toPoint(kind: Point['kind'], replay: Replay): readonly Point[] {
  const { ciHours: hours, p50Minutes: minutes } = replay;
  return minutes === undefined ? [] : [{ kind, replay, hours, minutes }];
}

/** Beside the point, on the side with room. */
function labelPlace(x: number): { readonly x: number; readonly 'text-anchor': 'start' | 'end' } {
  return x > WIDTH - 100 ? { x: x - 12, 'text-anchor': 'end' } : { x: x + 12, 'text-anchor': 'start' };
}

function niceEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 0.1))) / 2;
  return Math.ceil(most / unit) * unit;
}

function describe({ kind, replay, hours, minutes }: Point): string {
  const name = kind === 'tried' ? 'Tried' : nameOfReplay(replay);
  return `${name}: ${formatHours(hours)} of CI, half land within ${formatMinutes(minutes)}`;
}
