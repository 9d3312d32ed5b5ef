import type { EffectKey, EffectSettlement, QueueCommit } from '../../src/storage/queues.ts';
import type { Store } from '../../src/storage/store.ts';

export interface Tap {
  readonly onCommitted: (commit: QueueCommit) => void;
  readonly onStale: () => void;
  readonly onSettled: (effect: string, settlement: EffectSettlement) => void;
}

/** The same store. The listener learns of a commit before the caller does. */
export function tapCommits(store: Store, { onCommitted, onStale, onSettled }: Tap): Store {
  const queues = {
    ...store.queues,
    commit: async (commit: QueueCommit) => {
      const answer = await store.queues.commit(commit);
      if (answer === 'committed') onCommitted(commit);
      else onStale();
      return answer;
    },
  };
  const effects = {
    ...store.effects,
    settle: async ({ id }: EffectKey, holder: string, settlement: EffectSettlement) => {
      const answer = await store.effects.settle({ id }, holder, settlement);
      if (answer === 'settled') onSettled(id, settlement);
      return answer;
    },
  };
  return { ...store, queues, effects };
}
