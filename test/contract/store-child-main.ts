import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../src/lib/fault.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { aCommit, anEntry } from '../helpers/store-rows.ts';

/** The other side of store-child.ts. Standard output is a pipe, written synchronously: what was said was so. */
const [task, directory = '', argument = ''] = process.argv.slice(2);
const store = await openSqliteStore({ directory });
say('open');
if (task === 'commit') await commitForever(store, argument as QueueId);
if (task === 'hold') setInterval(() => {}, 1000);
if (task === 'restore') await restoreAndDie(store, argument);
if (task === 'backup-and-die') await store.snapshots?.backup(argument, () => process.kill(process.pid, 'SIGKILL'));
if (task === 'backup') await backUp(store, argument);
if (task === 'fill-disk') await fillDisk(store, argument as QueueId);

function say(line: string | number): void {
  process.stdout.write(`${line}\n`);
}

/** Several at once, as servers do; each version is said after it was acknowledged. */
async function commitForever({ queues }: Store, queueId: QueueId): Promise<never> {
  let next = (await queues.findVersion(queueId)) ?? 0;
  for (;;) {
    const versions = Array.from({ length: 4 }, () => next++);
    const committing = versions.map(async (version) => {
      const entries = [anEntry(queueId, version, { version: version + 1 })];
      if ((await queues.commit(aCommit(queueId, version, { entries }))) === 'committed') say(version + 1);
    });
    await Promise.all(committing);
  }
}

/** Ends itself once part of the backup is written to the log. */
async function restoreAndDie({ snapshots }: Store, file: string): Promise<void> {
  const restoring = snapshots?.restore(file).then(() => say('restored'));
  while (statSync(join(directory, 'sluice.db-wal')).size < 1_000_000) await setImmediate();
  process.kill(process.pid, 'SIGKILL');
  await restoring;
}

async function backUp({ snapshots, close }: Store, file: string): Promise<void> {
  try {
    await snapshots?.backup(file);
    say('written');
  } catch (error) {
    say(error instanceof Fault ? `${error.code} ${error.detail}` : String(error));
  }
  await close();
}

/** Commits until the disk is full, makes room, and commits again. */
async function fillDisk({ queues, close }: Store, queueId: QueueId): Promise<void> {
  let version = 1;
  const commit = () =>
    queues.commit(aCommit(queueId, version, { entries: [anEntry(queueId, version, { body: 'x'.repeat(50_000) })] }));
  try {
    for (;;) {
      await commit();
      version += 1;
    }
  } catch (error) {
    say(error instanceof Fault ? `${error.code} ${error.detail}` : String(error));
  }
  say((await queues.findVersion(queueId)) === version ? 'nothing written' : 'written');
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
  say(await commit());
  say(version + 1);
  await close();
}
