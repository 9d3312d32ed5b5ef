import type { Instant } from '../../lib/clock.ts';
import type { CursorMove, Webhook, WebhookId, WebhookStore } from '../webhooks.ts';
import { feedInserts } from './feed-waiting.ts';
import { UNLEASED } from './leased-work.ts';
import { all, changes, execute, executeAll, findRow, listRows, type Operation, type SqlEngine } from './operation.ts';
import { fromDelivery, fromWebhook, toWebhook } from './rows.ts';
import { callOf, replacing, type StatementCompiler } from './statement.ts';

type WebhookStatements = ReturnType<typeof webhookStatements>;

export function createWebhookStore(engine: SqlEngine, compiler: StatementCompiler): WebhookStore {
  const statements = webhookStatements(compiler);
  const insertFeed = feedInserts(compiler);
  return {
    insert: (webhook, feed) =>
      engine.write(() => executeAll([callOf(statements.save, fromWebhook(webhook)), ...insertFeed(feed)])),
    list: (organizationId) => engine.read(() => listRows(statements.list, { organizationId }, toWebhook)),
    listEnabled: () => engine.read(() => listRows(statements.listEnabled, {}, toWebhook)),
    find: (id) => engine.read(() => findRow(statements.find, { id }, toWebhook)),
    update: (id, change, feed) =>
      engine.write(function* () {
        const stored = yield* findRow(statements.lock, { id }, toWebhook);
        if (stored === undefined) return false;
        const changed: Webhook = { ...stored, ...change };
        yield* executeAll([callOf(statements.save, fromWebhook(changed)), ...insertFeed(feed)]);
        return true;
      }),
    remove: (id, feed) =>
      engine.write(function* () {
        if (!(yield* changes(statements.remove, { id }))) return false;
        yield* execute(statements.removeDeliveries, { id });
        yield* executeAll(insertFeed(feed));
        return true;
      }),
    // They follow from the feed, and are made again with the same ids.
    move: (moves, at) => engine.writeUnsynced(() => move(statements, moves, at)),
    countUntried: () =>
      engine.read(function* () {
        const rows = yield* all(statements.countUntried, {});
        return new Map(rows.map(({ webhook_id, count }) => [webhook_id as WebhookId, Number(count)]));
      }),
  };
}

// SPEC X21
function* move(statements: WebhookStatements, moves: readonly CursorMove[], at: Instant): Operation<void> {
  // In one order on every server, so that two of them never wait for each other.
  const sorted = moves.toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1));
  if (sorted.length === 0) return;
  const results = yield sorted.map(({ webhookId, from, to }) => callOf(statements.move, { id: webhookId, from, to }));
  const made = sorted.filter((_, index) => results[index]?.changes === 1);
  const fresh = { state: 'PENDING', attempts: 0, dueAt: at, createdAt: at } as const;
  const untried = { ...fresh, triedAt: null, lastStatus: null, lastError: null };
  const rows = made.flatMap(({ webhookId, deliveries }) =>
    deliveries.map((delivery) => ({ ...fromDelivery({ ...delivery, webhookId, ...untried }), ...UNLEASED })),
  );
  yield* executeAll(statements.insertDeliveries(rows));
}

function webhookStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    save: compiler.insertOne('webhooks', replacing('webhooks', ['id'], [])),
    find: sql('select * from webhooks where id = :id'),
    lock: sql('select * from webhooks where id = :id for update'),
    list: sql('select * from webhooks where organization_id = :organizationId order by created_at, id'),
    listEnabled: sql('select * from webhooks where disabled_at is null order by id'),
    remove: sql('delete from webhooks where id = :id'),
    removeDeliveries: sql('delete from webhook_deliveries where webhook_id = :id'),
    move: sql('update webhooks set cursor = :to where id = :id and cursor = :from and disabled_at is null'),
    insertDeliveries: compiler.upsert('webhook_deliveries', ['id']),
    // The conditions are literals, as in the index that serves this.
    countUntried: sql(`
      select webhook_id, count(*) as count from webhook_deliveries where state = 'PENDING' and attempts = 0
      group by webhook_id`),
  };
}
