import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Child } from './child.ts';
import { call, startSluice, TOKEN } from './world.ts';

export const SCOPE = { repo: { host: 'local', owner: 'acme', name: 'shop' }, org_url_slug: 'default' };

/** A separate server for test results, on a data folder or a database. */
export interface TestsWorld {
  readonly dataFolder: string;
  start(): Promise<TestsServer>;
  /** Acts on the store while no server runs. */
  useStore(act: (store: Store) => Promise<void>): Promise<void>;
  remove(): void;
}

export interface TestsServer {
  readonly child: Child;
  upload(of: UploadOf): Promise<void>;
  ask(operation: string, body?: object): Promise<unknown>;
  /** How many of the latest uploads wait to be processed. Throws if one failed. */
  countWaiting(): Promise<number>;
  untilProcessed(): Promise<void>;
  /** The same server with the token of another, new organization. */
  asOrganization(slug: string): Promise<TestsServer>;
}

export interface UploadOf {
  readonly sha: string;
  readonly branch: string;
  readonly job: string;
  /** Compressed with gzip. */
  readonly body: Uint8Array;
}

export function createTestsWorld(databaseUrl?: string): TestsWorld {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const dataFolder = path.join(folder, 'data');
  const environment = {
    SLUICE_LOG_LEVEL: 'error',
    ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl }),
  };
  return {
    dataFolder,
    async start() {
      return serverOf(await startSluice(dataFolder, environment));
    },
    async useStore(act) {
      const store = await (databaseUrl === undefined
        ? openSqliteStore({ directory: dataFolder })
        : openPostgresStore({ url: databaseUrl }));
      try {
        await act(store);
      } finally {
        await store.close();
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type Scope = typeof SCOPE;

function serverOf(child: Child, token = TOKEN, scope: Scope = SCOPE): TestsServer {
  const ask = (operation: string, body: object = {}) =>
    call(child.url, `/flaky-tests/${operation}`, { ...scope, ...body }, token);
  const countWaiting = async () => {
    const { uploads } = (await ask('list-uploads', { page_query: { page_size: 100 } })) as Uploads;
    const lost = uploads.find(({ status }) => status === 'FAILED' || status === 'SKIPPED');
    if (lost !== undefined) throw new Error(JSON.stringify(lost));
    return uploads.filter(({ status }) => status === 'ACCEPTED').length;
  };
  return {
    child,
    ask,
    countWaiting,
    upload: (of) => upload(child.url, token, { ...of, scope }),
    async untilProcessed() {
      while ((await countWaiting()) > 0) await sleep(20);
    },
    async asOrganization(slug) {
      const { token: own } = (await call(child.url, '/createOrganization', { slug })) as { token: string };
      return serverOf(child, own, { ...SCOPE, org_url_slug: slug });
    },
  };
}

interface Uploads {
  readonly uploads: readonly { readonly status: string }[];
}

async function upload(
  url: string,
  token: string,
  { sha, branch, job, body, scope }: UploadOf & { readonly scope: Scope },
): Promise<void> {
  const { repo, org_url_slug } = scope;
  const query = new URLSearchParams({
    org_url_slug,
    repo_host: repo.host,
    repo_owner: repo.owner,
    repo_name: repo.name,
    sha,
    branch,
    job_name: job,
  });
  const response = await fetch(`${url}/v1/flaky-tests/upload-results?${query}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/xml', 'content-encoding': 'gzip' },
    body: new Blob([body as Uint8Array<ArrayBuffer>]),
  });
  if (response.status !== 202) throw new Error(`upload: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}
