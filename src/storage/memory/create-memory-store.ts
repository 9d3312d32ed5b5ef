import { randomBytes } from 'node:crypto';
import { Fault } from '../../lib/fault.ts';
import type { Store } from '../store.ts';
import { createMemoryAccounts } from './accounts.ts';
import { createMemoryAlarms } from './alarms.ts';
import { createMemoryLogs } from './logs.ts';
import { createMemoryNotices } from './notices.ts';
import { createMemoryPullRequestNotes } from './pull-request-notes.ts';
import { createMemoryQueues } from './queues.ts';
import { createMemoryRepositories } from './repositories.ts';
import { createMemoryState } from './state.ts';
import { createMemoryTestIngest } from './test-ingest.ts';
import { createMemoryTestSettings } from './test-settings.ts';
import { createMemoryTests } from './tests.ts';
import { createMemoryUploads } from './uploads.ts';

/** A store that lives as long as its process: for tests, the simulator and trying things out. */
export function createMemoryStore(): Store {
  const state = createMemoryState();
  const uploads = createMemoryUploads(state);
  let isClosed = false;
  const open = <Part extends object>(part: Part): Part => guarded(part, () => isClosed);
  return {
    isShared: false,
    accounts: open(createMemoryAccounts(state)),
    repositories: open(createMemoryRepositories(state)),
    queues: open(createMemoryQueues(state)),
    tests: open(createMemoryTests(state)),
    testIngest: open(createMemoryTestIngest(state)),
    testSettings: open(createMemoryTestSettings(state)),
    uploads: { ...open(uploads), readBody: uploads.readBody },
    logs: open(createMemoryLogs(state)),
    alarms: open(createMemoryAlarms(state)),
    hints: open(createMemoryNotices(state)),
    pullRequestNotes: open(createMemoryPullRequestNotes(state)),
    signingKey: Uint8Array.from(randomBytes(32)),
    ping: async () => {
      if (isClosed) throw closedFault();
    },
    snapshots: undefined,
    close: async () => {
      isClosed = true;
    },
  };
}

/** The same methods, refused once the store is closed. */
function guarded<Part extends object>(part: Part, isClosed: () => boolean): Part {
  const methods = Object.entries(part).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      if (isClosed()) throw closedFault();
      return (method as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(methods) as Part;
}

function closedFault(): Fault {
  return new Fault('STORE_UNAVAILABLE', 'The store is closed.');
}
