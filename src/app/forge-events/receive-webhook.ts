import type { Delivery, Notice } from '../../forge/hosting.ts';
import type { NoticeRow } from '../../storage/notices.ts';
import type { App } from '../core/app.ts';
import { encodeNotice } from '../core/hint-codec.ts';
import { concernsQueue } from './is-relevant.ts';

export type Receipt =
  /** Of a forge that this server is connected to; how many places somebody will look at. */
  | { readonly kind: 'received'; readonly looks: number }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'unreadable'; readonly detail: string };

/**
 * Takes what a forge says has happened. Nothing is done about it here: that somebody must look is stored, and then it is
 * answered. Which forge it is, the signature tells.
 */
export async function receiveDelivery(app: App, delivery: Delivery): Promise<Receipt> {
  for (const [host, { hosting }] of app.forges) {
    const answer = hosting?.readDelivery(delivery);
    if (answer === undefined || answer.kind === 'unsigned') continue;
    app.notices.heardOf(host, app.clock.now());
    if (answer.kind === 'unreadable') return answer;
    return { kind: 'received', looks: await keep(app, host, answer.notices) };
  }
  return { kind: 'unsigned' };
}

/** What it says of repositories that are not registered here, or of what no queue goes by, is dropped. */
async function keep(app: App, host: string, notices: readonly Notice[]): Promise<number> {
  const rows: NoticeRow[] = [];
  for (const notice of notices) rows.push(...(await toOurs(app, host, notice)));
  if (rows.length === 0) return 0;
  const looks = await app.store.notices.add(rows);
  if (looks > 0) app.notices.wake();
  return looks;
}

async function toOurs(app: App, host: string, notice: Notice): Promise<readonly NoticeRow[]> {
  const found = await app.directory.findRepositoriesAt({ host, owner: notice.owner, name: notice.name });
  const rows: NoticeRow[] = [];
  for (const repository of found) {
    if (await concernsQueue(app, repository, notice)) rows.push(encodeNotice(repository, notice, app.clock.now()));
  }
  return rows;
}
