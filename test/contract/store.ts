import { after, before, describe } from 'node:test';
import type { Store } from '../../src/storage/store.ts';
import { accountPromises } from './store-accounts.ts';
import { alarmPromises } from './store-alarms.ts';
import { candidatePromises } from './store-candidates.ts';
import { effectPromises } from './store-effects.ts';
import { noticePromises } from './store-hints.ts';
import { ingestPromises } from './store-ingest.ts';
import { ingestModelPromises } from './store-ingest-model.ts';
import { logPromises } from './store-logs.ts';
import { pullRequestNotePromises } from './store-pull-request-notes.ts';
import { queueListPromises } from './store-queue-lists.ts';
import { queuePromises } from './store-queues.ts';
import { repositoryPromises } from './store-repositories.ts';
import { testSettingsPromises } from './store-test-settings.ts';
import { testPromises } from './store-tests.ts';
import { uploadPromises, wholeUploadPromises } from './store-uploads.ts';
import { wholeStorePromises } from './store-whole.ts';
import type { OpenStore } from './store-world.ts';

/** The promises of src/storage/*.ts, to be kept by every adapter. Each test brings rows of its own. */
export function storeContract(name: string, open: () => Promise<OpenStore>): void {
  describe(`store contract: ${name}`, () => {
    let opened: OpenStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());

    const store = (): Store => opened.store;
    describe('accounts', () => accountPromises(store));
    describe('repositories', () => repositoryPromises(store));
    describe('queues', () => queuePromises(store));
    describe('lists of queues', () => queueListPromises(store));
    describe('candidates', () => candidatePromises(store));
    describe('effects', () => effectPromises(open));
    describe('tests', () => testPromises(store));
    describe('taking in results', () => ingestPromises(store));
    describe('taking in results, compared', () => ingestModelPromises(store));
    describe('settings of tests', () => testSettingsPromises(store));
    describe('uploads', () => uploadPromises(store));
    describe('uploads of all repositories', () => wholeUploadPromises(open));
    describe('logs', () => logPromises(store));
    describe('alarms', () => alarmPromises(store));
    describe('notices', () => noticePromises(open));
    describe('notes about pull requests', () => pullRequestNotePromises(store));
    describe('the whole', () => wholeStorePromises(open));
  });
}
