import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { call, createRepository } from './world.ts';

export interface FilledQueue {
  readonly name: string;
  readonly entries: number;
}

export interface WebWorld {
  readonly server: Child;
  readonly token: string;
  pathOf(name: string): string;
  refOf(name: string): { readonly repo: object; readonly targetBranch: string };
  ask(operation: string, body: object): Promise<unknown>;
  submit(name: string, number: number): Promise<unknown>;
  stop(): Promise<void>;
}

const SENDERS = 8;

/** A real server whose queues are this long. No check is ever reported, so that nothing leaves. */
export async function createWebWorld(queues: readonly FilledQueue[]): Promise<WebWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const SLUICE_DATA = join(folder, 'data');
  const environment = { SLUICE_DATA, SLUICE_PORT: '0' };
  const server = await startChild(new URL('./sluice-child.ts', import.meta.url), { environment });
  const token = readFileSync(join(SLUICE_DATA, 'admin-token'), 'utf8').trim();
  const ask = (operation: string, body: object) => call(server.url, token, `/${operation}`, body);
  const refOf = (name: string) => ({ repo: { host: 'local', owner: 'acme', name }, targetBranch: 'main' });
  const submit = (name: string, number: number) => ask('submitPullRequest', { ...refOf(name), pr: { number } });
  for (const { name, entries } of queues) {
    // A tenth more than are submitted, for those who submit later.
    const git = createRepository(join(folder, `${name}.git`), Math.ceil(entries * 1.1) + 100);
    await ask('registerRepository', { repo: refOf(name).repo, git });
    await ask('createQueue', { ...refOf(name), requiredStatuses: ['unit', 'lint'] });
    let next = 1;
    const sendAll = async () => {
      while (next <= entries) {
        next += 1;
        await submit(name, next - 1);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sendAll));
  }
  return {
    server,
    token,
    ask,
    submit,
    refOf,
    pathOf: (name) => `/default/local/acme/${name}/main`,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
