import type { QueueRef } from '../../app/core/find-queue.ts';
import type { PageQuery, TestScope } from '../../app/core/list-page.ts';
import type { QueueChanges } from '../../app/queue/queues.ts';
import { upper } from '../../contract/schema.ts';
import { parseSettings } from '../../contract/settings.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { RequestableQueueState } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import { invalidField } from './problem.ts';

/** Converts validated wire values to our types. */

// SPEC H22
export function prNumber(given: number | string): PrNumber {
  return Number(given) as PrNumber;
}

/** 9999-12-31T23:59:59.999Z, the last instant that the contract's format can express. */
const LAST_INSTANT = 253_402_300_799_999;

/** The format allows leap seconds, which JavaScript has not, and the year 10000 by way of a time zone. */
export function instant(path: string, given: string): Instant {
  const parsed = Date.parse(given);
  if (parsed <= LAST_INSTANT) return parsed;
  throw invalidField(path, 'is not an instant that exists');
}

export function optionalInstant(path: string, given: string | undefined): Instant | undefined {
  return given === undefined ? undefined : instant(path, given);
}

/** Refuses in a query what parseJson refuses in a body: it cannot be stored. */
export function query(given: unknown): unknown {
  for (const [name, value] of Object.entries(given as Record<string, unknown>)) {
    if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) continue;
    throw invalidField(`/${name}`, 'has a NUL character or half of a surrogate pair');
  }
  return given;
}

export function testScope(given: { readonly repo: RepositoryRef; readonly org_url_slug: string }): TestScope {
  return { repo: given.repo, orgUrlSlug: given.org_url_slug };
}

export function testRef(given: Parameters<typeof testScope>[0] & { readonly test_id: string }) {
  return { ...testScope(given), testId: given.test_id };
}

export function queueRef({ repo, targetBranch }: QueueRef): QueueRef {
  return { repo, targetBranch };
}

export function pageQuery(given: { readonly page_size?: number; readonly page_token?: string }): PageQuery {
  return { pageSize: given.page_size ?? 25, pageToken: given.page_token ?? '' };
}

export function queueChanges(body: Readonly<Record<string, unknown>>): QueueChanges {
  const state = body.state as RequestableQueueState | undefined;
  return { settings: parseSettings(body), state: state === undefined ? undefined : upper(state) };
}

/** Leaves out fields that the request did not name. */
export function named<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
