/** One way to run the queue, and how its history would have gone with it. */
export interface Replay {
  /** Undefined: the present settings. */
  readonly runCost: number | undefined;
  readonly runsPerDecided: number;
  readonly ciHours: number;
  /** From ready to landed. Undefined if nothing landed. */
  readonly p50Minutes: number | undefined;
  readonly p95Minutes: number | undefined;
}

/** The costs of a run that are worth a try, with the word for each. */
export const RUN_COST_WORDS: ReadonlyMap<number, string> = new Map([
  [0.25, 'fastest'],
  [1, 'quick'],
  [2, 'balanced'],
  [4, 'economical'],
  [16, 'cheapest'],
]);

/** Fewer pull requests say more about chance than about the queue. */
export const ENOUGH_DECIDED = 30;

/** Smaller differences are noise of the one history. */
const CLEARLY_LESS = 0.9;
const NO_MORE = 1.02;

export function tooFewText(decided: number): string {
  const known = decided === 1 ? 'A test has decided 1 pull request' : `Tests have decided ${decided} pull requests`;
  return `${known} of this queue. Advice needs ${ENOUGH_DECIDED} of the last 90 days.`;
}

export const BUSY_TEXT = 'The simulator has enough to do. Try again in a few seconds.';

export const TOO_LONG_TEXT =
  'The history of this queue takes too long to replay. Run sluice simulate on a backup of the server instead.';

// SPEC K27
export function adviceText(present: Replay, others: readonly Replay[]): string {
  const better = others
    .filter((other) => isBetter(other, present))
    .toSorted((a, b) => sumOf(a, present) - sumOf(b, present));
  const [best] = better;
  if (best === undefined)
    return 'Keep the present settings: no other is cheaper without being slower, or faster without costing more.';
  const { runCost = 2 } = best;
  return `ADAPTIVE with runCost ${runCost} (${RUN_COST_WORDS.get(runCost)}) needs ${costText(best, present)} and lands 95 of 100 within ${timeText(best, present)}.`;
}

// SPEC K32
export function triedText(present: Replay, tried: Replay): string {
  return `These settings need ${costText(tried, present)} and land 95 of 100 within ${timeText(tried, present)}.`;
}

function isBetter(other: Replay, present: Replay): boolean {
  const ratios = ratiosOf(other, present);
  return ratios.every((ratio) => ratio <= NO_MORE) && ratios.some((ratio) => ratio <= CLEARLY_LESS);
}

function sumOf(other: Replay, present: Replay): number {
  return ratiosOf(other, present).reduce((sum, ratio) => sum + ratio, 0);
}

function ratiosOf(other: Replay, present: Replay): readonly number[] {
  return [
    other.runsPerDecided / present.runsPerDecided,
    (other.p50Minutes ?? Number.POSITIVE_INFINITY) / (present.p50Minutes ?? 1),
    (other.p95Minutes ?? Number.POSITIVE_INFINITY) / (present.p95Minutes ?? 1),
  ];
}

function costText(best: Replay, present: Replay): string {
  return `${best.runsPerDecided.toFixed(2)} CI runs per pull request instead of ${present.runsPerDecided.toFixed(2)}`;
}

function timeText(best: Replay, present: Replay): string {
  const minutes = ({ p95Minutes = 0 }: Replay) => (p95Minutes < 10 ? p95Minutes.toFixed(1) : p95Minutes.toFixed(0));
  return `${minutes(best)} minutes instead of ${minutes(present)}`;
}
