// A server in this process on a store in memory, wired as in src/main.ts, with a clock that tests turn.

import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import { Authenticator } from '../../../src/app/access/authenticate.ts';
import { ensureOrganization } from '../../../src/app/access/organizations.ts';
import { People } from '../../../src/app/access/people.ts';
import type { App } from '../../../src/app/core/app.ts';
import { parseRoles } from '../../../src/config/roles.ts';
import type { Forge } from '../../../src/forge/forge.ts';
import type { ServerDeps } from '../../../src/http/core/server-deps.ts';
import { createServer } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { readVersion } from '../../../src/lib/version.ts';
import type { OrganizationId } from '../../../src/storage/accounts.ts';
import type { Repository, RepositoryId } from '../../../src/storage/repositories.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { TestRow } from '../../../src/storage/tests.ts';
import { type ProblemBody, problemOf } from '../../e2e/harness.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { aRepository, NOON } from '../../helpers/store-rows.ts';
import { applyResults, type TestRunRow } from '../../helpers/test-results.ts';
import { createTestApp } from '../shell/create-app.ts';

export const TOKEN = 'the-token-of-these-tests';

export interface InProcess {
  readonly server: FastifyInstance;
  readonly app: App;
  readonly store: Store;
  readonly repository: Repository;
  readonly clock: { now(): number; set(instant: number): void };
  readonly scope: { readonly repo: { host: string; owner: string; name: string }; readonly org_url_slug: string };
  post(
    url: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; text: string }>;
  ok<T>(url: string, body: unknown): Promise<T>;
  refused(expected: string, url: string, body: unknown): Promise<ProblemBody>;
  apply(tests: readonly TestRow[], runs?: readonly TestRunRow[]): Promise<number>;
  close(): Promise<void>;
}

/** `forges` are those that the server is connected to, by host. */
interface InProcessOptions extends Partial<ServerDeps> {
  readonly forges?: ReadonlyMap<string, Forge>;
  readonly store?: Store;
  readonly providers?: App['providers'];
  /** The table of roles, as in its file. */
  readonly roles?: string;
}

export async function createInProcess(given: InProcessOptions = {}): Promise<InProcess> {
  const { forges = new Map<string, Forge>(), store = createMemoryStore(), providers, roles = '', ...options } = given;
  let now = NOON;
  const clock = {
    now: () => now,
    after: systemClock.after,
    set: (instant: number) => {
      now = instant;
    },
  };
  await ensureOrganization({ store, clock }, { slug: 'acme', adminToken: TOKEN });
  const organization = await store.accounts.findOrganization('acme');
  const repository = await store.repositories.save(
    aRepository({ organizationId: organization?.id as OrganizationId, host: 'local', name: 'app' }),
  );
  const auth = new Authenticator({ store, clock, log: silentLog });
  const people = new People({ store, forges, clock }, parseRoles(roles).lines);
  const app = createTestApp({ store, forges, clock, auth, people, ...(providers && { providers }) });
  const defaults = {
    version: readVersion(),
    publicUrl: 'https://sluice.test',
    trustedProxies: [],
    rateLimit: 0,
    requestTimeoutMs: 120_000,
  };
  const server = createServer({ app, log: silentLog, ...defaults, ...options });
  const post: InProcess['post'] = async (url, body, more = {}) => {
    const headers = { 'x-api-token': TOKEN, 'content-type': 'application/json', ...more };
    const response = await server.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) });
    const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
    return { status: response.statusCode, headers: new Headers(pairs), text: response.body };
  };
  return {
    server,
    app,
    store,
    repository,
    clock,
    scope: { repo: { host: 'local', owner: 'acme', name: 'app' }, org_url_slug: 'acme' },
    post,
    ok: async <T>(url: string, body: unknown): Promise<T> => {
      const answer = await post(url, body);
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text) as T;
    },
    refused: async (expected, url, body) => problemOf(await post(url, body), expected),
    apply: (tests, runs = []) => applyResults(store, { repositoryId: repository.id as RepositoryId, tests, runs }),
    close: async () => {
      await server.close();
      await app.auth.close();
      await store.close();
    },
  };
}
