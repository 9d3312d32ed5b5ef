import { chancesOf, failureChance, flakeChance, NOTHING_LEARNED } from '../engine/model/learned.ts';
import type { Queue } from '../engine/model/queue.ts';
import type { SettingName } from '../engine/model/settings.ts';
import { golombSize } from '../engine/policy/adaptive.ts';

/** ADAPTIVE decides for itself what these would fix. */
export const UNUSED_SETTINGS = [
  'batch',
  'batchingMinSize',
  'batchingMaxWaitTimeMinutes',
  'bisectionConcurrency',
  'pendingFailureDepth',
  'canOptimisticallyMerge',
] as const satisfies readonly SettingName[];

export interface LearnedFacts {
  readonly failureRate: number;
  readonly flakeRate: number;
  readonly meanDurationMs: number | undefined;
  readonly groupSize: number;
  readonly text: string;
}

/** The statistics of a queue as numbers and in words. */
export function describeLearned(queue: Pick<Queue, 'learned' | 'settings'>): LearnedFacts {
  const { learned, settings } = queue;
  const untested = { isCleared: false, admission: undefined };
  const chances = chancesOf(queue, new Array<typeof untested>(settings.maxGroupSize).fill(untested));
  const facts = {
    failureRate: failureChance(learned),
    flakeRate: flakeChance(learned),
    meanDurationMs: learned.durationMs,
    groupSize: golombSize(chances),
  };
  // Before the first decision, the rates are assumptions.
  const isNew = learned.all.seen <= NOTHING_LEARNED.all.seen;
  return { ...facts, text: isNew ? 'Nothing is known about this queue yet.' : textOf(facts) };
}

// SPEC K23
function textOf({ failureRate, flakeRate, groupSize }: Omit<LearnedFacts, 'text'>): string {
  const groups =
    groupSize === 1 ? 'Pull requests are tested one by one.' : `Groups of about ${groupSize} are tested together.`;
  return `${failureText(failureRate)} ${flakeText(flakeRate)} ${groups}`;
}

/** Whole numbers: of 100, or of 1000 if fewer than one of 100 fail. */
function failureText(rate: number): string {
  const of = rate < 0.01 ? 1000 : 100;
  const failing = Math.round(rate * of);
  return `${failing} of ${of} pull requests ${failing === 1 ? 'fails' : 'fail'} here.`;
}

function flakeText(rate: number): string {
  if (rate < 0.001) return 'Fewer than 1 of 1000 runs fail by chance.';
  return `1 of ${Math.round(1 / rate)} runs fails by chance.`;
}
