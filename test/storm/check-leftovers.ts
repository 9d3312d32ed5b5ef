import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findMarked } from '../../src/lib/marked-processes.ts';
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import type { QueueRow } from '../../src/storage/queues.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Git } from './check-history.ts';
import { lookUntil } from './pause.ts';
import type { Violations } from './verdict.ts';

/** The sweep removes refs that a server wrote after their removal, 20 s after a start. */
const REFS_MS = 40_000;
const PROCESSES_MS = 10_000;
const LOOK_EVERY_MS = 100;
/** People may still fetch the commits of failed runs, whose own refs stay. */
const OURS = ['refs/sluice', 'refs/heads/sluice'];
const KEPT = /^refs\/sluice\/candidates\//;

/** Waits until no other ref of a candidate is left. */
export async function checkRefs(violations: Violations, git: Git): Promise<void> {
  const list = async () =>
    (await git(['for-each-ref', '--format=%(refname)', ...OURS]))
      .split('\n')
      .filter((ref) => ref !== '' && !KEPT.test(ref));
  const times = { withinMs: REFS_MS, everyMs: LOOK_EVERY_MS };
  const isGone = await lookUntil(times, async () => ((await list()).length === 0 ? true : undefined));
  if (isGone === undefined) violations.add(`refs are left: ${(await list()).join(' ')}`);
}

/** A running server has one folder without remains of a job. */
export async function checkRunnerFolders(violations: Violations, dataFolders: readonly string[]): Promise<void> {
  for (const dataFolder of dataFolders) {
    const runner = join(dataFolder, 'runner');
    const look = async () => {
      const names = await readdir(runner, { recursive: true });
      return names.length === 2 && names.some((name) => name.endsWith('/owner')) ? true : undefined;
    };
    const isEmpty = await lookUntil({ withinMs: PROCESSES_MS, everyMs: LOOK_EVERY_MS }, look);
    if (isEmpty === undefined)
      violations.add(`work trees are left: ${(await readdir(runner, { recursive: true })).join(' ')}`);
  }
}

/** No process of a check is left, whichever server started it. */
export async function checkMarkedProcesses(violations: Violations, marks: Iterable<string>): Promise<void> {
  for (const mark of marks) {
    const look = async () => ((await findMarked(mark)).length === 0 ? true : undefined);
    const isGone = await lookUntil({ withinMs: PROCESSES_MS, everyMs: LOOK_EVERY_MS }, look);
    if (isGone === undefined) violations.add(`processes of checks are left: ${(await findMarked(mark)).join(' ')}`);
  }
}

/** After the servers stopped, no process uses these folders, and the folders of the runner are empty. */
export async function checkStopped(
  violations: Violations,
  { folders, dataFolders }: { readonly folders: readonly string[]; readonly dataFolders: readonly string[] },
): Promise<void> {
  const look = async () => ((await findProcessesIn(folders)).length === 0 ? true : undefined);
  const isGone = await lookUntil({ withinMs: PROCESSES_MS, everyMs: LOOK_EVERY_MS }, look);
  if (isGone === undefined) violations.add(`processes are left: ${(await findProcessesIn(folders)).join('; ')}`);
  for (const dataFolder of dataFolders) {
    const left = await readdir(join(dataFolder, 'runner')).catch(() => []);
    violations.expect(left.length === 0, `folders of the runner are left: ${left.join(' ')}`);
  }
  for (const folder of folders) {
    const locks = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.lock'));
    violations.expect(locks.length === 0, `locks are left in ${folder}: ${locks.join(' ')}`);
  }
}

/** Processes that run in one of the folders or have it as an argument. */
async function findProcessesIn(folders: readonly string[]): Promise<readonly string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [cwd, command] = await Promise.all([
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
        readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''),
      ]);
      const isIn = folders.some((folder) => cwd.startsWith(folder) || command.includes(folder));
      return isIn && Number(pid) !== process.pid ? [`${pid} ${command.replaceAll('\0', ' ').trim()}`] : [];
    }),
  );
  return found.flat();
}

export async function checkObjects(violations: Violations, git: Git): Promise<void> {
  await git(['fsck', '--strict', '--no-dangling', '--no-progress']).catch((error: Error) =>
    violations.add(`git fsck is not content: ${error.message}`),
  );
}

const MAX_ALARMS = 10;

export type StorePlace =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** No effect of a queue is left, and no alarm is open. The servers must have stopped. */
export async function checkStore(violations: Violations, place: StorePlace): Promise<void> {
  const store = place.kind === 'sqlite' ? await openSqliteStore(place) : await openPostgresStore(place);
  try {
    for (const queue of await listQueues(store)) {
      for (const effect of await store.effects.list(queue.id)) {
        const { kind, body, attempts, lastError } = effect;
        violations.add(`${queue.branch}: ${kind} is left: ${body}, ${attempts} attempts, ${lastError ?? 'no error'}`);
      }
      const alarms = await store.alarms.list([queue.id], 0, MAX_ALARMS);
      for (const { code, text } of alarms) violations.add(`${queue.branch} raised ${code}: ${text}`);
    }
  } finally {
    await store.close();
  }
}

async function listQueues({ repositories, queues }: Store): Promise<readonly QueueRow[]> {
  const found: QueueRow[] = [];
  for (const { id } of await repositories.listAll()) found.push(...(await queues.listByRepository(id)));
  return found;
}
