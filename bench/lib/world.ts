import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { QueueCommit, QueueId } from '../../src/storage/queues.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';
import { type Child, startChild } from './child.ts';

export const REPO = { host: 'local', owner: 'acme', name: 'app' };
export const QUEUE = { repo: REPO, targetBranch: 'main' };

export interface World {
  readonly folder: string;
  readonly dataFolder: string;
  readonly token: string;
  start(): Promise<Child>;
  remove(): void;
}

/** A data folder with one repository of `pullRequests` pull requests, each one commit on main, and one queue. */
export async function createWorld(of: {
  readonly pullRequests: number;
  readonly live: number;
  readonly ended: number;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const dataFolder = path.join(folder, 'data');
  const git = createRepository(path.join(folder, 'app.git'), of.pullRequests);
  const environment = { SLUICE_DATA: dataFolder, SLUICE_PORT: '0', ...of.environment };
  const start = (): Promise<Child> => startChild(new URL('./sluice-child.ts', import.meta.url), { environment });
  const child = await start();
  const token = readFileSync(path.join(dataFolder, 'admin-token'), 'utf8').trim();
  await call(child.url, token, '/registerRepository', { repo: REPO, git });
  // This check is never reported, so the queue stays as busy as it can be.
  await call(child.url, token, '/createQueue', { ...QUEUE, requiredStatuses: ['unit'] });
  for (let number = 1; number <= of.live; number++) {
    await call(child.url, token, '/submitPullRequest', { ...QUEUE, pr: { number } });
  }
  await child.stop();
  await addEndedEntries(dataFolder, of.ended);
  return { folder, dataFolder, token, start, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function call(url: string, token: string, operation: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${url}/v1${operation}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** One fast-import writes all of them. A process for each commit would take minutes. */
export function createRepository(git: string, pullRequests: number): string {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', git]);
  const lines = ['commit refs/heads/main', 'mark :1', 'committer A <a@example.com> 1700000000 +0000', 'data 4', 'base'];
  lines.push('M 100644 inline base.txt', 'data 5', 'base', '');
  for (let number = 1; number <= pullRequests; number++) {
    const title = `Change ${number}`;
    lines.push(`commit refs/pull/${number}/head`, 'committer A <a@example.com> 1700000001 +0000');
    lines.push(`data ${title.length}`, title, 'from :1', `M 100644 inline file-${number}.txt`, 'data 2', 'x', '');
  }
  execFileSync('git', ['-C', git, 'fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  return git;
}

/** Entries that left the queue during the last 30 days, written as the server would have written them. */
async function addEndedEntries(dataFolder: string, count: number): Promise<void> {
  const store = await openSqliteStore({ directory: dataFolder });
  const [repository] = await store.repositories.listAll();
  const row = repository && (await store.queues.find(repository.id, QUEUE.targetBranch));
  if (row === undefined) throw new Error('the queue is missing');
  const now = Date.now();
  const spread = 30 * 24 * 3_600_000;
  let version = row.version;
  for (let first = 0; first < count; first += 1000) {
    const numbers = Array.from({ length: Math.min(1000, count - first) }, (_, index) => 1_000_000 + first + index);
    const commit = endedCommit({
      queueId: row.id,
      version,
      body: row.body,
      numbers,
      at: (n) => now - 7_200_000 - ((n * 7919) % spread),
    });
    await store.queues.commit(commit);
    version += 1;
  }
  await store.close();
}

function endedCommit(of: {
  readonly queueId: QueueId;
  readonly version: number;
  readonly body: string;
  readonly numbers: readonly number[];
  readonly at: (prNumber: number) => number;
}): QueueCommit {
  const version = of.version + 1;
  const entries = of.numbers.map((prNumber) => ({
    id: randomUUID(),
    queueId: of.queueId,
    prNumber,
    version,
    isLive: false,
    state: 'CANCELLED',
    submittedAt: of.at(prNumber) - 60_000,
    targetsDigest: null,
    body: '',
  }));
  return {
    queueId: of.queueId,
    expectedVersion: of.version,
    body: of.body,
    events: [{ version, at: Date.now(), kind: 'pull_request_cancelled', body: '{}' }],
    entries: entries.map((entry) => ({ ...entry, body: JSON.stringify(endedBody(entry, of.at(entry.prNumber))) })),
    transitions: entries.map((entry, ordinal) => ({
      queueId: of.queueId,
      entryId: entry.id,
      prNumber: entry.prNumber,
      version,
      ordinal,
      at: of.at(entry.prNumber),
      from: 'PENDING',
      to: 'CANCELLED',
      isBisection: false,
      durationMs: 60_000,
      inQueueMs: 60_000,
      body: JSON.stringify({ reason: 'USER_REQUESTED', text: 'Removed from the queue.' }),
    })),
    candidates: [],
    effects: [],
    targetSets: [],
    impactedTargets: [],
  };
}

function endedBody(entry: { id: string; prNumber: number; submittedAt: number }, at: number): object {
  return {
    id: entry.id,
    prNumber: entry.prNumber,
    state: 'CANCELLED',
    stateChangedAt: at,
    pr: aPullRequest(entry.prNumber),
    priority: { value: 100, name: 'medium', isDefault: true },
    noBatch: false,
    submittedAt: entry.submittedAt,
    submission: 1,
    admission: { at: entry.submittedAt, ordinal: 1 },
  };
}
