import type { WaitingStore } from '../waiting.ts';
import { hintStatements } from './hints.ts';
import { nextDueAt } from './leased-work.ts';
import { type SqlEngine, together } from './operation.ts';
import { effectStatements } from './queue-effects.ts';
import { callOf, type StatementCompiler } from './statement.ts';
import { IS_WAITING } from './upload-statements.ts';
import { deliveryStatements, nextDeliveryAt } from './webhook-deliveries.ts';

export function createWaitingStore(engine: SqlEngine, compiler: StatementCompiler): WaitingStore {
  const [effects, hints] = [effectStatements(compiler), hintStatements(compiler)];
  const deliveries = deliveryStatements(compiler);
  const statements = waitingStatements(compiler);
  return {
    // SPEC D40
    read: () =>
      engine.snapshot(function* () {
        const [events, changes, uploads, entries, behind, placed] = yield* together(
          callOf(statements.hasEvents, {}),
          callOf(statements.hasChanges, {}),
          callOf(statements.hasUploads, {}),
          callOf(statements.hasEntries, {}),
          callOf(statements.isBehind, {}),
          callOf(statements.placed, {}),
        );
        return {
          effectsAt: yield* nextDueAt(effects),
          hintsAt: yield* nextDueAt(hints),
          deliveriesAt: yield* nextDeliveryAt(deliveries),
          hasEvents: events.length + changes.length > 0,
          placed: Number(placed[0]?.count ?? 0),
          isWebhookBehind: behind.length > 0,
          hasUploads: uploads.length > 0,
          hasEntries: entries.length > 0,
        };
      }),
  };
}

export function waitingStatements({ sql }: StatementCompiler) {
  return {
    hasEvents: sql('select version from feed_waiting limit 1'),
    hasChanges: sql('select version from queue_changes where feed is not null limit 1'),
    hasUploads: sql(`select id from uploads where ${IS_WAITING} limit 1`),
    hasEntries: sql(`
      select id from queues where deleted_at is null
      and exists (select 1 from entries where entries.queue_id = queues.id and entries.is_live = true) limit 1`),
    isBehind: sql(`
      select webhooks.id from webhooks join feed_heads on feed_heads.organization_id = webhooks.organization_id
      where disabled_at is null and cursor < last_seq limit 1`),
    placed: sql('select sum(last_seq) as count from feed_heads'),
  };
}
