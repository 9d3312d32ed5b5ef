import type { AlarmRow, AlarmStore } from '../alarms.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState } from './state.ts';

export function createMemoryAlarms({ alarms, auditMarks }: MemoryState): AlarmStore {
  const ofQueues = (queueIds: readonly string[]) =>
    [...alarms.values()].filter(({ queueId }) => queueIds.includes(queueId));
  return {
    async raise(alarm) {
      const kept = frozenCopy({ ...alarm, endedAt: null });
      if (alarms.has(kept.id)) return 'known';
      alarms.set(kept.id, kept);
      return 'raised';
    },
    async end({ queueId, code, at }) {
      for (const alarm of ofQueues([queueId])) {
        if (alarm.code === code && alarm.endedAt === null) alarms.set(alarm.id, frozenCopy({ ...alarm, endedAt: at }));
      }
    },
    list: async (queueIds, since, limit) =>
      ofQueues(queueIds)
        .filter(({ at }) => at >= since)
        .sort((a, b) => b.at - a.at || compareText(a.id, b.id))
        .slice(0, limit),
    count: async (queueIds) => countByCode(ofQueues(queueIds)),
    findMark: async (queueId) => auditMarks.get(queueId),
    async setMark(queueId, mark, expectedVersion) {
      const kept = frozenCopy(mark);
      if (auditMarks.get(queueId)?.version !== expectedVersion) return 'stale';
      auditMarks.set(queueId, kept);
      return 'set';
    },
  };
}

function countByCode(alarms: readonly AlarmRow[]): Awaited<ReturnType<AlarmStore['count']>> {
  const ofQueue = Map.groupBy(alarms, ({ queueId }) => queueId);
  return [...ofQueue].flatMap(([queueId, rows]) =>
    [...Map.groupBy(rows, ({ code }) => code)].map(([code, { length: count }]) => ({ queueId, code, count })),
  );
}

export function removeAlarms({ alarms, auditMarks }: MemoryState, removedQueueId: string): void {
  auditMarks.delete(removedQueueId);
  for (const { id, queueId } of alarms.values()) if (queueId === removedQueueId) alarms.delete(id);
}
