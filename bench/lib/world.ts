import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';
import { aCommit, anEntry, aTransition } from '../../test/helpers/store-rows.ts';
import { type Child, startChild } from './child.ts';

/** Of the administrator. */
export const TOKEN = 'the-administrator-of-the-bench';
export const REPO = { host: 'local', owner: 'acme', name: 'app' };
export const QUEUE = { repo: REPO, targetBranch: 'main' };

export interface World {
  readonly folder: string;
  readonly dataFolder: string;
  start(): Promise<Child>;
  remove(): void;
}

/** The server on a data folder. */
export function startSluice(dataFolder: string, environment: Record<string, string> = {}): Promise<Child> {
  return startChild(new URL('./sluice-child.ts', import.meta.url), {
    environment: { SLUICE_DATA: dataFolder, SLUICE_PORT: '0', SLUICE_ADMIN_TOKEN: TOKEN, ...environment },
  });
}

/** A data folder with one repository of `pullRequests` pull requests, each one commit on main, and one queue. */
export async function createWorld(of: {
  readonly pullRequests: number;
  readonly live: number;
  readonly ended: number;
  readonly environment?: Record<string, string>;
}): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const dataFolder = path.join(folder, 'data');
  const git = createRepository(path.join(folder, 'app.git'), of.pullRequests);
  const start = () => startSluice(dataFolder, of.environment);
  const child = await start();
  await call(child.url, '/registerRepository', { repo: REPO, git });
  // This check is never reported, so the queue stays as busy as it can be.
  await call(child.url, '/createQueue', { ...QUEUE, requiredStatuses: ['unit'] });
  for (let number = 1; number <= of.live; number++) {
    await call(child.url, '/submitPullRequest', { ...QUEUE, pr: { number } });
  }
  await child.stop();
  await addEndedEntries(dataFolder, of.ended);
  return {
    folder,
    dataFolder,
    start,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function call<T = unknown>(url: string, operation: string, body: unknown, token = TOKEN): Promise<T> {
  const response = await fetch(`${url}/v1${operation}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const PERSON = 'committer Ada <ada@example.com> 1700000000 +0000';

/** Pull requests that add a file each. One fast-import writes all of them: a process for each would take minutes. */
export function createRepository(git: string, pullRequests: number, files = 1): string {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', git]);
  const lines = ['commit refs/heads/main', 'mark :1', PERSON, 'data 4', 'base'];
  for (let file = 1; file <= files; file++) lines.push(...fileLines(`src/part-${file % 10}/file-${file}.txt`));
  for (let number = 1; number <= pullRequests; number++) {
    const title = `Change ${number}`;
    lines.push(`commit refs/pull/${number}/head`, PERSON, `data ${title.length}`, title, 'from :1');
    lines.push(...fileLines(`change-${number}.txt`));
  }
  execFileSync('git', ['-C', git, 'fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  return git;
}

function fileLines(file: string): readonly string[] {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line} of ${file}`).join('\n');
  return [`M 100644 inline ${file}`, `data ${text.length}`, text];
}

const SPREAD_MS = 30 * 24 * 3_600_000;

/** Entries that left the queue during the last 30 days, written as the server would have written them. */
async function addEndedEntries(dataFolder: string, count: number): Promise<void> {
  const store = await openSqliteStore({ directory: dataFolder });
  const [repository] = await store.repositories.listAll();
  const row = repository && (await store.queues.find(repository.id, QUEUE.targetBranch));
  if (row === undefined) throw new Error('the queue is missing');
  const now = Date.now();
  let { version } = row;
  for (let first = 0; first < count; first += 1000) {
    const expected = version;
    version += 1;
    const entries = Array.from({ length: Math.min(1000, count - first) }, (_, index) => {
      const prNumber = 1_000_000 + first + index;
      const submittedAt = now - 7_260_000 - ((prNumber * 7919) % SPREAD_MS);
      const values = { version, isLive: false, state: 'CANCELLED', submittedAt };
      const entry = anEntry(row.id, prNumber, values);
      return { ...entry, body: JSON.stringify(endedBody(entry)) };
    });
    const transitions = entries.map((entry, ordinal) => {
      const body = JSON.stringify({ reason: 'USER_REQUESTED', text: 'Removed from the queue.' });
      const times = { at: entry.submittedAt + 60_000, durationMs: 60_000, inQueueMs: 60_000 };
      return aTransition(entry, { ordinal, from: 'PENDING', body, ...times });
    });
    await store.queues.commit(aCommit(row.id, expected, { body: row.body, entries, transitions }));
  }
  await store.close();
}

function endedBody({ id, prNumber, submittedAt }: { id: string; prNumber: number; submittedAt: number }): object {
  return {
    ...{ id, prNumber, state: 'CANCELLED', stateChangedAt: submittedAt + 60_000, pr: aPullRequest(prNumber) },
    ...{ priority: { value: 100, name: 'medium', isDefault: true }, noBatch: false },
    ...{ submittedAt, submission: 1, admission: { at: submittedAt, ordinal: 1 } },
  };
}
