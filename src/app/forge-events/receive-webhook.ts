import type { Delivery, DeliveryReader, WebhookHint } from '../../forge/hosting.ts';
import type { HintRow } from '../../storage/hints.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { encodeHint } from '../core/hint-codec.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { hasWaiting, isWaitedFor } from './checks-hint.ts';
import { listEnqueueingLabels } from './commands/label-command.ts';

export type Receipt =
  /** From a connected forge. `hints` is the number of stored hints. */
  | { readonly kind: 'received'; readonly hints: number }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'unreadable'; readonly detail: string };

/** The address that a webhook was sent to. Without a host it may be from any forge of this kind. */
interface WebhookAddress {
  readonly kind: string;
  readonly host: string | undefined;
}

// SPEC G159
export function sendersAt({ forges }: App, { kind, host }: WebhookAddress): ReadonlyMap<string, DeliveryReader> {
  const senders = new Map<string, DeliveryReader>();
  for (const [known, { hosting }] of forges) {
    if (hosting?.kind === kind && (host === undefined || host === known)) senders.set(known, hosting);
  }
  return senders;
}

/** Acting on the hints here would keep the forge waiting. The signature tells which of the senders sent it. */
// SPEC G31
export async function receiveWebhook(
  app: App,
  senders: ReadonlyMap<string, DeliveryReader>,
  delivery: Delivery,
): Promise<Receipt> {
  for (const [host, hosting] of senders) {
    const answer = hosting.readDelivery(delivery);
    if (answer.kind === 'unsigned') continue;
    app.hints.recordWebhook(host, app.clock.now());
    if (answer.kind === 'unreadable') return answer;
    return { kind: 'received', hints: await keep(app, host, answer.hints) };
  }
  return { kind: 'unsigned' };
}

// SPEC G32
async function keep(app: App, host: string, hints: readonly WebhookHint[]): Promise<number> {
  const rows: HintRow[] = [];
  for (const hint of hints) rows.push(...(await toOurs(app, host, hint)));
  if (rows.length === 0) return 0;
  const stored = await app.store.hints.add(rows);
  if (stored > 0) app.hints.wake();
  return stored;
}

async function toOurs(app: App, host: string, hint: WebhookHint): Promise<readonly HintRow[]> {
  const found = await app.directory.findRepositoriesAt({ host, owner: hint.owner, name: hint.name });
  if (found.length === 0 && hint.forgeId !== undefined) {
    // The repository has another name here. Its identity is settled at once, and the poll after that reads what changed.
    // SPEC G172
    const known = await app.directory.findRepositoriesWithId(host, hint.forgeId);
    return known.map((repository) => {
      const { owner, name } = repository;
      return encodeHint(repository, { kind: 'access', owner, name, key: `${owner}/${name} access` }, app.clock.now());
    });
  }
  const rows: HintRow[] = [];
  for (const repository of found) {
    if (await isRelevant(app, repository, hint)) rows.push(encodeHint(repository, hint, app.clock.now()));
  }
  return rows;
}

/**
 * Storing and handling all webhooks of a busy repository would be most of the work. A queue knows a candidate before CI
 * can report on it. Checks of a head may arrive before the head itself; the next poll then reads them.
 */
// SPEC G86
async function isRelevant(app: App, repository: Repository, hint: WebhookHint): Promise<boolean> {
  switch (hint.kind) {
    case 'checks':
      return (await loadQueues(app, [repository])).some(
        (found) => isWaitedFor(found, hint) || (hint.check === undefined && hasWaiting(found)),
      );
    case 'branch':
      return (await loadQueues(app, [repository])).some(({ queue }) => queue.branch === hint.branch);
    case 'label':
      return (await listEnqueueingLabels(app, repository, hint.label)).length > 0;
    default:
      return true;
  }
}
