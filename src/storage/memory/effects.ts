import { assert } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import type { EffectClaim, EffectSettlement, QueueCommit, QueueStore, StoredEffect } from '../queues.ts';
import { frozenCopy } from './frozen-copy.ts';
import type { MemoryEffect, MemoryQueue, MemoryState } from './state.ts';

export function memoryEffects(state: MemoryState) {
  return {
    listEffects: async (queueId) => [...(state.queues.get(queueId)?.effects.values() ?? [])].map(({ row }) => row),
    claimEffects: async (claim) => claimEffects(state, frozenCopy(claim)),
    settleEffect: async (id, holder, settlement) =>
      settleEffect(state, id, { holder, settlement: frozenCopy(settlement) }),
    renewLeases: async (holder, ids, leaseUntil) => renewLeases(state, { holder, ids, leaseUntil }),
    async findNextEffectDueAt() {
      const instants = firstOfStreams(state).map(({ row, lease }) => Math.max(row.dueAt, lease?.until ?? row.dueAt));
      return instants.length === 0 ? undefined : Math.min(...instants);
    },
    async endLeases(holder) {
      const all = [...state.queues.values()].flatMap(({ effects }) => [...effects.values()]);
      const leased = all.filter(
        ({ lease }) => lease !== undefined && (holder === undefined || lease.holder === holder),
      );
      for (const effect of leased) effect.lease = undefined;
      return leased.length;
    },
    async unparkEffects(queueId, at) {
      const queue = state.queues.get(queueId);
      if (queue === undefined || queue.isDeleted) return 0;
      const parked = [...queue.effects.values()].filter(({ row }) => row.parkedAt !== null);
      for (const effect of parked) change(effect, { parkedAt: null, dueAt: at, attempts: 0, lastError: null });
      return parked.length;
    },
  } satisfies Partial<QueueStore>;
}

export function checkEffects({ queues }: MemoryState, commit: QueueCommit): void {
  for (const { id } of commit.effects) {
    const isFree = queues.values().every((queue) => queue.row.id === commit.queueId || !queue.effects.has(id));
    assert(isFree, `there is already an effect ${id}`);
  }
}

/** Asked for again while it is not done: it keeps its place, and what became of it so far. */
export function putEffects({ effects }: MemoryQueue, commit: QueueCommit, version: number): void {
  commit.effects.forEach((effect, ordinal) => {
    const { id, kind, dueAt, body } = effect;
    const before = effects.get(id);
    if (before !== undefined) change(before, { kind, dueAt, body });
    else {
      const fresh = { queueId: commit.queueId, attempts: 0, lastError: null, parkedAt: null };
      effects.set(id, { row: Object.freeze({ ...effect, ...fresh }), version, ordinal, lease: undefined });
    }
  });
  for (const id of commit.doneEffects ?? []) effects.delete(id);
}

/** Of present queues, and not parked. */
function firstOfStreams(state: MemoryState): MemoryEffect[] {
  const present = [...state.queues.values()].filter((queue) => !queue.isDeleted);
  const firsts = present.flatMap(({ effects }) => {
    const byStream = new Map<string, MemoryEffect>();
    for (const effect of effects.values()) {
      if (!byStream.has(effect.row.stream)) byStream.set(effect.row.stream, effect);
    }
    return [...byStream.values()];
  });
  return firsts.filter(({ row }) => row.parkedAt === null);
}

function claimEffects(state: MemoryState, { holder, now, leaseUntil, limit }: EffectClaim): readonly StoredEffect[] {
  const claimed = firstOfStreams(state)
    .filter(({ row, lease }) => row.dueAt <= now && (lease === undefined || lease.until <= now))
    .sort((a, b) => a.row.dueAt - b.row.dueAt || a.version - b.version || a.ordinal - b.ordinal)
    .slice(0, limit);
  for (const effect of claimed) effect.lease = { holder, until: leaseUntil };
  return claimed.map(({ row }) => row);
}

interface Settling {
  readonly holder: string;
  readonly settlement: EffectSettlement;
}

function settleEffect(state: MemoryState, id: string, { holder, settlement }: Settling): 'settled' | 'lost' {
  const queue = state.queues.values().find(({ effects }) => effects.has(id));
  const effect = queue?.effects.get(id);
  if (queue === undefined || effect?.lease?.holder !== holder) return 'lost';
  effect.lease = undefined;
  if (settlement.kind === 'done') queue.effects.delete(id);
  else change(effect, settled(effect.row, settlement));
  return 'settled';
}

interface Renewal {
  readonly holder: string;
  readonly ids: readonly string[];
  readonly leaseUntil: Instant;
}

function renewLeases(state: MemoryState, { holder, ids, leaseUntil }: Renewal): readonly string[] {
  const effects = [...state.queues.values()].map((queue) => queue.effects);
  return [...new Set(ids)].filter((id) => {
    const effect = effects.find((ofQueue) => ofQueue.has(id))?.get(id);
    if (effect?.lease?.holder !== holder) return false;
    effect.lease = { holder, until: leaseUntil };
    return true;
  });
}

function settled(
  { attempts }: StoredEffect,
  settlement: Exclude<EffectSettlement, { kind: 'done' }>,
): Partial<StoredEffect> {
  switch (settlement.kind) {
    case 'retry':
      return { dueAt: settlement.dueAt, lastError: settlement.error, attempts: attempts + 1 };
    case 'postpone':
      return { dueAt: settlement.dueAt };
    case 'park':
      return { parkedAt: settlement.at, lastError: settlement.error, attempts: attempts + 1 };
  }
}

function change(effect: MemoryEffect, values: Partial<StoredEffect>): void {
  effect.row = Object.freeze({ ...effect.row, ...values });
}
