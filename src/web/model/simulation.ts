/** The settings that the simulator tries. */
export interface Tried {
  readonly mode: string;
  readonly concurrency: number;
  readonly optimizationMode: string;
  readonly runCost: number;
}
export type TriedName = keyof Tried;

/** A slider moves along these, as differences between small ones matter more. */
export const RUN_COSTS = [0.25, 0.5, 1, 2, 3, 4, 6, 8, 16, 32] as const;
const WORDS: ReadonlyMap<number, string> = new Map([
  [0.25, 'fastest'],
  [1, 'quick'],
  [2, 'balanced'],
  [4, 'economical'],
  [16, 'cheapest'],
]);

export function tellRunCost(runCost: number): string {
  const word = WORDS.get(runCost);
  return word === undefined ? `${runCost}` : `${runCost}, ${word}`;
}

/** The most slots that the slider offers. */
export function mostSlots(present: number): number {
  return Math.min(1_000, Math.max(50, 2 * present));
}

/** The settings as an address tells them: what it does not name, or names wrongly, is as it is. */
export function parseTried(query: URLSearchParams, present: Tried): Tried {
  const mode = query.get('mode')?.toUpperCase() ?? '';
  const slots = Number(query.get('slots'));
  const runCost = Number(query.get('runCost'));
  const isAdaptive = query.get('adaptive');
  return {
    mode: mode === 'SINGLE' || mode === 'PARALLEL' ? mode : present.mode,
    concurrency: Number.isInteger(slots) && slots >= 1 && slots <= 1_000 ? slots : present.concurrency,
    optimizationMode: chooseOptimization(isAdaptive, present.optimizationMode),
    runCost: runCost >= 0.1 && runCost <= 100 ? runCost : present.runCost,
  };
}

function chooseOptimization(isAdaptive: string | null, present: string): string {
  if (isAdaptive === 'yes') return 'ADAPTIVE';
  return isAdaptive === 'no' && present === 'ADAPTIVE' ? 'OFF' : present;
}

export interface Change {
  readonly name: TriedName;
  readonly from: string;
  readonly to: string;
}

/** The settings that differ. The price of a run counts with ADAPTIVE alone. */
export function changesOf(present: Tried, tried: Tried): readonly Change[] {
  const names: readonly TriedName[] = ['mode', 'concurrency', 'optimizationMode', 'runCost'];
  return names
    .filter((name) => name !== 'runCost' || tried.optimizationMode === 'ADAPTIVE')
    .filter((name) => present[name] !== tried[name])
    .map((name) => ({ name, from: String(present[name]), to: String(tried[name]) }));
}

/** The body of a request that makes these changes. */
export function settingsOf(changes: readonly Change[], tried: Tried): Partial<Tried> {
  return Object.fromEntries(changes.map(({ name }) => [name, tried[name]]));
}

/** Such as `62% less`, `as much`, `3.1 times as much`. */
export function compare(value: number, base: number): string {
  if (base === 0 || Math.abs(value / base - 1) < 0.01) return 'the same';
  const ratio = value / base;
  if (ratio < 1) return `${Math.round((1 - ratio) * 100)}% less`;
  return ratio < 2 ? `${Math.round((ratio - 1) * 100)}% more` : `${ratio.toFixed(1)} times as much`;
}

const LABEL = { width: 56, height: 15 };

/** The points that have room for a label: earlier ones come first, later ones that would overlap have none. */
export function findFree(points: readonly { readonly x: number; readonly y: number }[]): ReadonlySet<number> {
  const taken = new Set<number>();
  for (const [index, { x, y }] of points.entries()) {
    const isOver = (other: number) => {
      const { x: otherX = 0, y: otherY = 0 } = points[other] ?? {};
      return Math.abs(otherX - x) < LABEL.width && Math.abs(otherY - y) < LABEL.height;
    };
    if (![...taken].some(isOver)) taken.add(index);
  }
  return taken;
}
