import type { Reply } from '../../core/api.ts';

export type Replay = Reply<'adviseQueue'>['replays'][number];

const NAMES: Readonly<Record<number, string>> = {
  16: 'cheapest',
  4: 'economical',
  2: 'balanced',
  1: 'quick',
  0.25: 'fastest',
};

export function nameOfReplay({ runCost }: Replay): string {
  if (runCost === undefined) return 'As it is';
  return `Adaptive, ${NAMES[runCost] ?? `runCost ${runCost}`}`;
}
