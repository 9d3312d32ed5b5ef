import { describe } from 'node:test';
import { madeOnce } from '../helpers/made.ts';
import type { OpenStore } from '../helpers/store-rows.ts';
import { accountPromises } from './store-accounts.ts';
import { alarmPromises } from './store-alarms.ts';
import { candidatePromises } from './store-candidates.ts';
import { effectPromises } from './store-effects.ts';
import { feedPromises } from './store-feed.ts';
import { createStoreTests } from './store-fixture.ts';
import { hintPromises } from './store-hints.ts';
import { idempotentRequestPromises } from './store-idempotent-requests.ts';
import { ingestPromises } from './store-ingest.ts';
import { ingestModelPromises } from './store-ingest-model.ts';
import { logPromises } from './store-logs.ts';
import { pullRequestNotePromises } from './store-pull-request-notes.ts';
import { queueListPromises } from './store-queue-lists.ts';
import { queuePromises } from './store-queues.ts';
import { repositoryPromises } from './store-repositories.ts';
import { sessionPromises } from './store-sessions.ts';
import { testSettingsPromises } from './store-test-settings.ts';
import { testPromises } from './store-tests.ts';
import { uploadPromises, wholeUploadPromises } from './store-uploads.ts';
import { wholeStorePromises } from './store-whole.ts';

const PROMISES = {
  accounts: accountPromises,
  repositories: repositoryPromises,
  queues: queuePromises,
  'lists of queues': queueListPromises,
  candidates: candidatePromises,
  tests: testPromises,
  'taking in results': ingestPromises,
  'taking in results, compared': ingestModelPromises,
  'settings of tests': testSettingsPromises,
  uploads: uploadPromises,
  logs: logPromises,
  alarms: alarmPromises,
  feed: feedPromises,
  'notes about pull requests': pullRequestNotePromises,
  'requests with a key': idempotentRequestPromises,
  sessions: sessionPromises,
};

/** These open stores of their own, because they see the rows of all repositories. */
const OF_WHOLE_STORES = {
  effects: effectPromises,
  'uploads of all repositories': wholeUploadPromises,
  hints: hintPromises,
  'the whole': wholeStorePromises,
};

/** The promises of src/storage/*.ts, to be kept by every adapter. Each test brings rows of its own. */
export function storeContract(name: string, open: () => Promise<OpenStore>): void {
  describe(`store contract: ${name}`, () => {
    const opened = madeOnce(() => open());

    const tests = createStoreTests(() => opened.store);
    for (const [subject, promises] of Object.entries(PROMISES)) describe(subject, () => promises(tests));
    for (const [subject, promises] of Object.entries(OF_WHOLE_STORES)) describe(subject, () => promises(open));
  });
}
