import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from './child.ts';
import { call, createRepository, startSluice } from './world.ts';

export interface FilledQueue {
  readonly name: string;
  readonly entries: number;
}

export interface WebWorld {
  readonly server: Child;
  /** The page of the queue. */
  readonly path: string;
  readonly ref: { readonly repo: object; readonly targetBranch: string };
  ask(operation: string, body: object): Promise<unknown>;
  submit(number: number): Promise<unknown>;
  stop(): Promise<void>;
}

const SENDERS = 8;

/** A real server with a queue of this length. No check is ever reported, so that nothing leaves. */
export async function createWebWorld({ name, entries }: FilledQueue): Promise<WebWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const server = await startSluice(join(folder, 'data'));
  const ask = (operation: string, body: object) => call(server.url, `/${operation}`, body);
  const ref = { repo: { host: 'local', owner: 'acme', name }, targetBranch: 'main' };
  const submit = (number: number) => ask('submitPullRequest', { ...ref, pr: { number } });
  // More than are submitted, for those that are submitted later.
  const git = createRepository(join(folder, `${name}.git`), entries + 100);
  await ask('registerRepository', { repo: ref.repo, git });
  await ask('createQueue', { ...ref, requiredStatuses: ['unit', 'lint'] });
  let next = 1;
  const sendAll = async () => {
    while (next <= entries) {
      next += 1;
      await submit(next - 1);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendAll));
  return {
    server,
    ask,
    submit,
    ref,
    path: `/default/local/acme/${name}/main`,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
