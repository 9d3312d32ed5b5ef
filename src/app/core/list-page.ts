import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { View } from '../../contract/schema.ts';
import type { Page, PageQuery } from '../../contract/test-scope.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { TestListQuery } from '../../storage/tests.ts';
import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findRepository } from './find-queue.ts';
import { type Answer, type Refusal, refuse } from './refusal.ts';

export interface TestScope {
  readonly repo: RepositoryRef;
  readonly org_url_slug: string;
}

export type PageView = View<typeof Page>;

// SPEC P6
export async function findTestScope(app: App, caller: Caller, scope: TestScope): Answer<Repository> {
  if (scope.org_url_slug !== caller.organization.slug) return organizationNotFound(scope.org_url_slug);
  return findRepository(app, caller, scope.repo);
}

export function organizationNotFound(slug: string): Refusal {
  return refuse(
    'ORGANIZATION_NOT_FOUND',
    `This token does not belong to an organization "${slug}". Check org_url_slug.`,
  );
}

/** Reads one page. `asked` is the whole query: a page token is valid only for the query that returned it. */
// SPEC P1, P2
export async function listPage<List extends { readonly totalRows: number }>(
  app: App,
  of: {
    readonly repository: Repository;
    readonly asked: unknown;
    readonly page: View<typeof PageQuery>;
    /** The watermark of the listed rows. Absent: that of the test results. */
    readonly getWatermark?: () => Promise<number>;
  },
  list: (query: TestListQuery, firstPageAt: Instant) => Promise<List>,
): Answer<{ readonly list: List; readonly page: PageView }> {
  const { repository } = of;
  const { page_size: pageSize = 25, page_token: pageToken = '' } = of.page;
  const tokens = new PageTokens(app.store.signingKey);
  const query = [repository.id, of.asked, pageSize];
  const now = app.clock.now();
  const getWatermark = of.getWatermark ?? (() => app.store.tests.getWatermark(repository.id));
  const position =
    pageToken === ''
      ? { watermark: await getWatermark(), pageIndex: 0, issuedAt: now }
      : tokens.parse(query, pageToken, now);
  if (position === undefined) {
    const message = 'is not one that this query returned within the last 24 hours';
    return refuse('VALIDATION_FAILED', `page_query.page_token ${message}. Start again without it.`, [
      { path: '/page_query/page_token', message },
    ]);
  }
  const offset = position.pageIndex * pageSize;
  const asOf = { repositoryId: repository.id, watermark: position.watermark };
  const rows = await list({ ...asOf, offset, limit: pageSize }, position.issuedAt);
  const make = (pageIndex: number): string => tokens.make(query, { ...position, pageIndex });
  return { list: rows, page: viewPage(rows.totalRows, pageSize, position, make) };
}

function viewPage(
  totalRows: number,
  pageSize: number,
  position: PagePosition,
  make: (index: number) => string,
): PageView {
  const totalPages = Math.ceil(totalRows / pageSize);
  const { pageIndex } = position;
  return {
    total_rows: totalRows,
    total_pages: totalPages,
    next_page_token: pageIndex + 1 < totalPages ? make(pageIndex + 1) : '',
    prev_page_token: pageIndex > 0 ? make(pageIndex - 1) : '',
    last_page_token: totalPages > 0 ? make(totalPages - 1) : '',
    page_index: pageIndex,
  };
}

const LIFETIME_MS = 24 * 3_600_000;
const SIGNATURE_BYTES = 16;

interface PagePosition {
  readonly watermark: number;
  readonly pageIndex: number;
  readonly issuedAt: Instant;
}

/** Each token is signed over the position and the whole query with a key that all servers share. */
export class PageTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  make(query: unknown, position: PagePosition): string {
    const body = Buffer.from(JSON.stringify([position.watermark, position.pageIndex, position.issuedAt]));
    return Buffer.concat([this.#sign(query, body), body]).toString('base64url');
  }

  /** Undefined for a token that is forged, cut, of another query or page size, or older than a day. */
  // SPEC P3
  parse(query: unknown, token: string, now: Instant): PagePosition | undefined {
    const bytes = Buffer.from(token, 'base64url');
    // The base64 decoder skips unknown characters: only the exact text that was issued is valid.
    if (bytes.length <= SIGNATURE_BYTES || bytes.toString('base64url') !== token) return undefined;
    const body = bytes.subarray(SIGNATURE_BYTES);
    if (!timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), this.#sign(query, body))) return undefined;
    const [watermark, pageIndex, issuedAt] = JSON.parse(body.toString()) as [number, number, number];
    return now - issuedAt > LIFETIME_MS ? undefined : { watermark, pageIndex, issuedAt };
  }

  #sign(query: unknown, body: Uint8Array): Buffer {
    const asked = createHash('sha256').update(JSON.stringify(query)).digest();
    return createHmac('sha256', this.#key).update(asked).update(body).digest().subarray(0, SIGNATURE_BYTES);
  }
}
