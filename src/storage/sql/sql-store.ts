import { randomBytes } from 'node:crypto';
import { assert } from '../../lib/assert.ts';
import type { Store } from '../store.ts';
import { createAccountStore } from './accounts.ts';
import { createAlarmStore } from './alarms.ts';
import { createFeedStore } from './feed.ts';
import { createHintStore } from './hints.ts';
import { createIdempotentRequestStore } from './idempotent-requests.ts';
import { createLogStore } from './logs.ts';
import { execute, first, run, type SqlEngine } from './operation.ts';
import { createPastStore } from './past.ts';
import { createPullRequestNoteStore } from './pull-request-notes.ts';
import { createEffectStore } from './queue-effects.ts';
import { createQueueRecordStore, createQueueStore } from './queues.ts';
import { createRepositoryStore } from './repositories.ts';
import { createSecretStore } from './secrets.ts';
import { createSessionStore } from './sessions.ts';
import type { StatementCompiler } from './statement.ts';
import { createTestIngest, createTestUpkeepStore } from './test-ingest.ts';
import { createTestSettingsStore } from './test-settings.ts';
import { createTestStore } from './tests.ts';
import { createUploadBodyStore } from './upload-bodies.ts';
import { createUploadStore, createUploadWorkStore } from './uploads.ts';
import { createWaitingStore } from './waiting.ts';
import { createDeliveryStore } from './webhook-deliveries.ts';
import { createWebhookStore } from './webhooks.ts';

const SIGNING_KEY_BYTES = 32;

export function createSqlParts(
  engine: SqlEngine,
  compiler: StatementCompiler,
): Omit<Store, 'isShared' | 'signingKey' | 'signals' | 'snapshots' | 'close'> {
  const anything = compiler.sql('select name from meta limit 1');
  const size = compiler.raw<object, { readonly bytes: number }>(`select ${compiler.dialect.databaseSize} as bytes`);
  return {
    accounts: createAccountStore(engine, compiler),
    repositories: createRepositoryStore(engine, compiler),
    queues: createQueueStore(engine, compiler),
    queueRecords: createQueueRecordStore(engine, compiler),
    effects: createEffectStore(engine, compiler),
    past: createPastStore(engine, compiler),
    tests: createTestStore(engine, compiler),
    testIngest: createTestIngest(engine, compiler),
    testUpkeep: createTestUpkeepStore(engine, compiler),
    testSettings: createTestSettingsStore(engine, compiler),
    uploads: createUploadStore(engine, compiler),
    uploadBodies: createUploadBodyStore(engine, compiler),
    uploadWork: createUploadWorkStore(engine, compiler),
    logs: createLogStore(engine, compiler),
    alarms: createAlarmStore(engine, compiler),
    feed: createFeedStore(engine, compiler),
    hints: createHintStore(engine, compiler),
    webhooks: createWebhookStore(engine, compiler),
    webhookDeliveries: createDeliveryStore(engine, compiler),
    idempotentRequests: createIdempotentRequestStore(engine, compiler),
    secrets: createSecretStore(engine, compiler),
    sessions: createSessionStore(engine, compiler),
    pullRequestNotes: createPullRequestNoteStore(engine, compiler),
    waiting: createWaitingStore(engine, compiler),
    measureSize: () =>
      engine.read(function* () {
        return Number((yield* first(size, {}))?.bytes ?? 0);
      }),
    ping: () => engine.read(() => run(anything, {})),
  };
}

/** Several servers may come here at once: the first one's key is everyone's. */
export async function ensureSigningKey(engine: SqlEngine, compiler: StatementCompiler): Promise<Uint8Array> {
  const insert = compiler.sql(
    `insert into meta (name, value) values ('signing_key', :value) on conflict (name) do nothing`,
  );
  const find = compiler.sql(`select value from meta where name = 'signing_key'`);
  const key = randomBytes(SIGNING_KEY_BYTES).toString('hex');
  const row = await engine.write(function* () {
    yield* execute(insert, { value: key });
    return yield* first(find, {});
  });
  assert(row !== undefined, 'the signing key was just ensured');
  return Uint8Array.from(Buffer.from(row.value, 'hex'));
}
