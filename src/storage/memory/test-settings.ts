import { assert } from '../../lib/assert.ts';
import type { RepositoryId } from '../repositories.ts';
import type { TestSettingsStore } from '../test-settings.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState } from './state.ts';

export function createMemoryTestSettings(state: MemoryState): TestSettingsStore {
  const { testSettings } = state;
  return {
    find: async (repositoryId) => testSettings.get(repositoryId)?.stored,
    async save(repositoryId, expectedVersion, next, change) {
      assert(state.repositories.has(repositoryId), `there is no repository ${repositoryId}`);
      const before = testSettings.get(repositoryId);
      if ((before?.stored.version ?? 0) !== expectedVersion) return undefined;
      const { appliedVersion, appliedMonitors } = before?.stored ?? { appliedVersion: 0, appliedMonitors: [] };
      const { settings, monitors } = frozenCopy(next);
      const { at, actor, detail } = frozenCopy(change);
      const stored = Object.freeze({
        ...{ version: expectedVersion + 1, settings, monitors },
        ...{ appliedVersion, appliedMonitors, actor, changedAt: at },
      });
      const changes = [...(before?.changes ?? []), { change: { at, actor, detail }, monitors }];
      testSettings.set(repositoryId, { stored, changes });
      return stored;
    },
    findMonitors: async (repositoryId, version) => testSettings.get(repositoryId)?.changes[version - 1]?.monitors,
    async markApplied(repositoryId, version) {
      const known = testSettings.get(repositoryId);
      const monitors = known?.changes[version - 1]?.monitors;
      if (known === undefined || monitors === undefined || known.stored.appliedVersion >= version) return;
      known.stored = Object.freeze({ ...known.stored, appliedVersion: version, appliedMonitors: monitors });
    },
    async listBehind() {
      const behind = [...testSettings].filter(([, { stored }]) => stored.appliedVersion < stored.version);
      return behind.map(([id]) => id as RepositoryId).sort(compareText);
    },
    async listChanges(repositoryId, limit) {
      const changes = testSettings.get(repositoryId)?.changes ?? [];
      return changes
        .map(({ change }) => change)
        .reverse()
        .slice(0, limit);
    },
  };
}
