import { type Bar, drawBars, roundUp } from '../model/bars.ts';
import { useBars } from './use-bars.ts';

interface Props {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly unit: string;
  readonly labelOf: (key: string) => string;
  readonly chosen?: string | undefined;
  readonly onChoose: (key: string) => void;
  /** A line across, with its name. */
  readonly limit?: { readonly value: number; readonly name: string } | undefined;
}

const WIDTH = 560;
const HEIGHT = 140;

/** Bars over time. Each one has its numbers as a text, and may be chosen. */
export function BarChart({ title, bars, unit, labelOf, chosen, onChoose, limit }: Props) {
  const sums = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const most = roundUp(Math.max(...sums, limit?.value ?? 0));
  const keysOf = useBars(bars.length);
  const drawn = drawBars(bars, { width: WIDTH, height: HEIGHT }, most);
  const textOf = (bar: Bar) =>
    `${labelOf(bar.key)}: ${bar.parts.map(({ name, value }) => `${round(value)} ${name}`).join(', ')}`;
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="muted">up to {`${round(most)} ${unit}`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 20}`} aria-label={title}>
        <line class="ground" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {drawn.map((each, index) => {
          const bar = bars[index] as Bar;
          const choose = () => onChoose(each.key);
          const keys = keysOf(index);
          return (
            // biome-ignore lint/a11y/useSemanticElements: HTML buttons cannot be inside a picture
            <g
              key={each.key}
              class={chosen === each.key ? 'bar chosen' : 'bar'}
              role="button"
              aria-label={textOf(bar)}
              aria-pressed={chosen === each.key}
              onClick={choose}
              {...keys}
              onKeyDown={(event) => {
                keys.onKeyDown(event);
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                choose();
              }}
            >
              <title>{textOf(bar)}</title>
              <rect class="area" x={each.x} y={0} width={WIDTH / bars.length} height={HEIGHT} />
              {each.parts.map(({ name, tone, y, height }) => (
                <rect key={name} class={`tone-${tone}`} x={each.x} y={y} width={each.width} height={height} />
              ))}
            </g>
          );
        })}
        {limit !== undefined && (
          <>
            <line class="limit" x1={0} x2={WIDTH} y1={yOf(limit.value, most)} y2={yOf(limit.value, most)} />
            <text x={0} y={yOf(limit.value, most) - 4}>
              {limit.name}
            </text>
          </>
        )}
        <text x={0} y={HEIGHT + 16}>
          {labelOf(bars[0]?.key ?? '')}
        </text>
        <text x={WIDTH} y={HEIGHT + 16} text-anchor="end">
          {labelOf(bars.at(-1)?.key ?? '')}
        </text>
      </svg>
    </figure>
  );
}

function yOf(value: number, most: number): number {
  return HEIGHT - (value / most) * HEIGHT;
}

function round(value: number): string {
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(2);
}
