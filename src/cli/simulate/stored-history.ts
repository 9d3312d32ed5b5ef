import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readQueueHistory } from '../../app/advice/queue-history.ts';
import { decodeQueue } from '../../app/core/queue-codec.ts';
import { formatInstant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { HOUR_MS } from '../../policy/workload.ts';
import type { QueueRow } from '../../storage/queues.ts';
import { type FolderLock, lockFolder } from '../../storage/sqlite/folder.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { writeBackup } from '../../storage/sqlite/write-backup.ts';
import type { Store } from '../../storage/store.ts';
import { usageError } from '../core/exit.ts';
import type { Source } from './options.ts';

type Place = Extract<Source, { kind: 'history' }>;

export function readHistory(place: Place) {
  return withStoreCopy(place.data, async (store) => {
    const { queue, name } = await findQueue(store, place);
    const snapshot = await store.queues.load(queue.id);
    const [last] = await store.queueRecords.listEvents(queue.id, queue.version - 1, 1);
    if (snapshot === undefined || last === undefined) throw usageError(`The queue of ${name} has no history.`);
    const from = last.at - place.days * 24 * HOUR_MS;
    const history = await readQueueHistory(store, queue, { from, until: last.at });
    if (history === undefined) throw usageError('No test run came to an end in that time: there is nothing to play.');
    const { changes, asItWas, leftOut } = history;
    const notes = [
      `from ${formatInstant(from)} to ${formatInstant(last.at)}; times count from when a pull request was ready`,
      ...(leftOut > 0
        ? [`left out: ${leftOut} that were cancelled, merged by hand, refused or are still in the queue`]
        : []),
    ];
    return { source: name, notes, changes, asItWas, settings: decodeQueue(snapshot).settings };
  });
}

async function findQueue(store: Store, { repo, branch }: Place): Promise<{ queue: QueueRow; name: string }> {
  const repositories = await store.repositories.listAll();
  const nameOf = ({ host, owner, name }: (typeof repositories)[number]) => `${host}/${owner}/${name}`;
  const chosen = repositories.filter((repository) => repo === undefined || nameOf(repository) === repo);
  const [repository, ...others] = chosen;
  if (repository === undefined || others.length > 0) {
    const names = repositories.map(nameOf).join(', ') || 'none';
    throw usageError(`Choose a repository with --repo. There are: ${names}.`);
  }
  const queue = await store.queues.find(repository.id, branch);
  if (queue !== undefined) return { queue, name: `${nameOf(repository)} ${branch}` };
  const branches = (await store.queues.listByRepository(repository.id)).map((each) => each.branch).join(', ') || 'none';
  throw usageError(`${nameOf(repository)} has no queue for ${branch}. There are: ${branches}.`);
}

const DATABASE = 'sluice.db';

/** Works on a temporary copy. The data folder or backup at `place` stays unchanged. */
async function withStoreCopy<T>(place: string, use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-simulate-'));
  try {
    await copyStore(place, join(directory, DATABASE));
    const store = await openSqliteStore({ directory });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function copyStore(place: string, copy: string): Promise<void> {
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile() === true) return copyFile(place, copy);
  const database = join(place, DATABASE);
  const inside = await stat(database).catch(() => undefined);
  if (inside?.isFile() !== true) throw usageError(`${place} is neither a data folder nor a backup.`);
  // Held during the copy, so that no server starts meanwhile.
  const lock = lockIdle(place);
  try {
    await writeBackup(database, copy);
  } finally {
    lock.release();
  }
}

function lockIdle(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'STORE_LOCKED') throw error;
    throw usageError(
      `A server is using ${folder}. Run \`sluice backup\` and give the file that it names: --data <file>.`,
    );
  }
}
