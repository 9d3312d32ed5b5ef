import { nameOfReplay, type Replay } from './name-of-replay.ts';

const WIDTH = 720;
const HEIGHT = 280;
const EDGE = { left: 56, right: 24, top: 16, bottom: 40 };

/** Time to land against CI runs. To the left is cheaper, further down is faster. */
export function Curve({ replays }: { readonly replays: readonly Replay[] }) {
  const points = replays.flatMap((replay) =>
    replay.p50Minutes === undefined ? [] : [{ replay, runs: replay.runsPerDecided, minutes: replay.p50Minutes }],
  );
  if (points.length < 2) return null;
  const mostRuns = niceEnd(Math.max(...points.map(({ runs }) => runs)));
  const mostMinutes = niceEnd(Math.max(...points.map(({ minutes }) => minutes)));
  const x = (runs: number) => EDGE.left + (runs / mostRuns) * (WIDTH - EDGE.left - EDGE.right);
  const y = (minutes: number) => HEIGHT - EDGE.bottom - (minutes / mostMinutes) * (HEIGHT - EDGE.top - EDGE.bottom);
  const line = points.filter(({ replay }) => replay.runCost !== undefined).sort((a, b) => a.runs - b.runs);
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={describe(points)}>
        {[0, 0.5, 1].map((part) => (
          <g key={part} class="axis">
            <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(part * mostMinutes)} y2={y(part * mostMinutes)} />
            <text x={EDGE.left - 8} y={y(part * mostMinutes) + 4} text-anchor="end">
              {Math.round(part * mostMinutes)} min
            </text>
            <text x={x(part * mostRuns)} y={HEIGHT - 18} text-anchor="middle">
              {(part * mostRuns).toFixed(1)}
            </text>
          </g>
        ))}
        <text class="name" x={(EDGE.left + WIDTH - EDGE.right) / 2} y={HEIGHT - 2} text-anchor="middle">
          CI runs per pull request
        </text>
        <polyline points={line.map(({ runs, minutes }) => `${x(runs)},${y(minutes)}`).join(' ')} />
        {points.map(({ replay, runs, minutes }) => (
          <g key={nameOfReplay(replay)} class={replay.runCost === undefined ? 'present' : ''}>
            <circle cx={x(runs)} cy={y(minutes)} r={replay.runCost === undefined ? 6 : 4} />
            <text class="label" x={x(runs) + 9} y={y(minutes) + 4}>
              {replay.runCost === undefined ? 'as it is' : replay.runCost}
            </text>
          </g>
        ))}
      </svg>
      <figcaption class="muted">
        Minutes until half of the pull requests have landed, by how many CI runs they cost.
      </figcaption>
    </figure>
  );
}

function niceEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 0.1)));
  return Math.ceil(most / unit) * unit;
}

function describe(
  points: readonly { readonly replay: Replay; readonly runs: number; readonly minutes: number }[],
): string {
  return points
    .map(
      ({ replay, runs, minutes }) => `${nameOfReplay(replay)}: ${runs.toFixed(2)} runs, ${minutes.toFixed(0)} minutes`,
    )
    .join('; ');
}
