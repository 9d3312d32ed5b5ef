// An in-process server that listens, so that real clients stream to it.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import type { App } from '../../../src/app/core/app.ts';
import type { ServerDeps } from '../../../src/http/core/server-deps.ts';
import type { Answer } from '../../e2e/harness.ts';
import { createInProcess, type InProcess, TOKEN } from './in-process.ts';

export const REPORT =
  '<testsuites><testsuite name="math"><testcase name="adds" classname="math" time="0.1"/></testsuite></testsuites>';

export const FIELDS = {
  org_url_slug: 'acme',
  repo_host: 'local',
  repo_owner: 'acme',
  repo_name: 'app',
  sha: '0123456789abcdef0123456789abcdef01234567',
  branch: 'main',
};

type Fields = Readonly<Record<string, string | undefined>>;

export interface UploadWorld extends InProcess {
  readonly url: string;
  readonly port: number;
  /** Posts to upload-results. */
  send(body: FormData | string | Uint8Array, headers?: Fields, query?: Fields, mount?: string): Promise<Answer>;
  makeToken(body: object): Promise<string>;
  /** How often ingest was woken. */
  wakes(): number;
  /** Stored bodies, named by an upload or not. */
  bodies(): readonly string[];
  nothingIsKept(): Promise<void>;
}

export async function createUploadWorld(options: Partial<ServerDeps> = {}): Promise<UploadWorld> {
  const world = await createInProcess({ publicUrl: undefined, ...options });
  let wakes = 0;
  (world.app as { ingest: App['ingest'] }).ingest = {
    wake: () => {
      wakes += 1;
    },
    withWritesPaused: (action) => action(),
    onCheckResults: () => () => undefined,
  };
  const bodies = watchBodies(world);
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.server.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    ...world,
    url,
    port,
    send: async (body, headers = {}, query = {}, mount = '/v1') => {
      const address = new URL(`${url}${mount}/flaky-tests/upload-results`);
      for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
      const init = {
        method: 'POST',
        headers: { 'x-api-token': TOKEN, connection: 'close', ...headers } as Record<string, string>,
      };
      const response = await fetch(address, { ...init, body: body as FormData | string | Uint8Array<ArrayBuffer> });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    makeToken: async (body) => (await world.ok<{ token: string }>('/v1/createApiToken', { name: 'ci', ...body })).token,
    wakes: () => wakes,
    bodies: () => [...bodies],
    nothingIsKept: async () => {
      const { uploads } = await world.ok<{ uploads: unknown[] }>('/v1/flaky-tests/list-uploads', {
        ...world.scope,
        page_query: {},
      });
      assert.deepEqual([uploads.length, bodies.size, wakes], [0, 0, 0]);
    },
  };
}

/** The port cannot list bodies, so that writes and removals are recorded. */
function watchBodies({ app }: InProcess): ReadonlySet<string> {
  const bodies = new Set<string>();
  const { uploadBodies } = app.store;
  const watched = {
    ...uploadBodies,
    append: (...args: Parameters<typeof uploadBodies.append>) => {
      bodies.add(args[0]);
      return uploadBodies.append(...args);
    },
    remove: (...args: Parameters<typeof uploadBodies.remove>) => {
      bodies.delete(args[0]);
      return uploadBodies.remove(...args);
    },
  };
  (app as { store: App['store'] }).store = { ...app.store, uploadBodies: watched };
  return bodies;
}
