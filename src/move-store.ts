import { seal } from './app/core/feed-event.ts';
import { Fault } from './lib/fault.ts';
import type { OrganizationId } from './storage/accounts.ts';
import type { FeedStore } from './storage/feed.ts';
import { fillDatabase, type TableProgress } from './storage/postgres/fill-database.ts';
import { lockFolder } from './storage/sqlite/folder.ts';
import { type ReadTables, readTables } from './storage/sqlite/read-tables.ts';

export interface MoveOrder {
  readonly dataFolder: string;
  /** Of an empty database. */
  readonly url: string;
  readonly onProgress: (progress: TableProgress) => void;
}

interface Audit {
  /** The slug. */
  readonly organization: string;
  readonly records: number;
  /** Of the last record; null if there is none. */
  readonly digest: string | null;
}

const PAGE = 500;

// SPEC D50
export async function moveStore({ dataFolder, url, onProgress }: MoveOrder) {
  const lock = lockFolder(dataFolder);
  try {
    const source = readTables(dataFolder);
    try {
      const audits: Audit[] = [];
      const verify = async (feed: FeedStore) => {
        for (const head of listHeads(source)) audits.push(await verifyAudit(feed, head));
      };
      return { ...(await fillDatabase(url, { source, onProgress, verify })), audits };
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

interface Head {
  readonly id: OrganizationId;
  readonly slug: string;
  readonly digest: string | null;
}

function listHeads(source: ReadTables): readonly Head[] {
  const slugs = new Map([...source.rows('organizations', ['id', 'slug'])].map(([id, slug]) => [id, String(slug)]));
  return [...source.rows('feed_heads', ['organization_id', 'digest'])].map(([id, digest]) => ({
    id: id as OrganizationId,
    slug: slugs.get(id ?? null) ?? String(id),
    digest: digest as string | null,
  }));
}

/** Makes each digest anew from the record that PostgreSQL has and the digest before it. */
async function verifyAudit(feed: FeedStore, { id, slug, digest }: Head): Promise<Audit> {
  let [last, records, afterSeq]: [string | null, number, number] = [null, 0, 0];
  const query = { organizationId: id, repositoryIds: null, isAuditOnly: true, order: 'ASC', limit: PAGE } as const;
  for (;;) {
    const page = await feed.list({ ...query, afterSeq });
    for (const row of page) {
      if (seal(row, last) !== row.digest) throw differs(slug);
      last = row.digest;
    }
    records += page.length;
    afterSeq = page.at(-1)?.seq ?? afterSeq;
    if (page.length < PAGE) break;
  }
  if (last !== digest) throw differs(slug);
  return { organization: slug, records, digest };
}

function differs(slug: string): Fault {
  const sentence = `The audit of the organization ${slug} is not intact in the copy. Nothing was moved: run "sluice audit verify" on the embedded store.`;
  return new Fault('STORE_UNAVAILABLE', sentence);
}
