import { statSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import { exitOf, gitFault, keepTail, runGit, startGit } from './exec.ts';
import type { RefAnswer, RefChange } from './git.ts';
import type { AnswerReader, KeptProcess, KeptProcessOptions } from './kept-process.ts';
import type { ProcessPool } from './process-pool.ts';
import { syncFiles } from './sync-files.ts';

const PURPOSE = 'change refs of the repository';

/** Long enough for another process to release its lock. Git's default is a tenth of a second. */
const PATIENCE = ['-c', 'core.filesRefLockTimeout=10000', '-c', 'core.packedRefsTimeout=10000'];

/** For the reflog, if the repository keeps one. */
const IDENTITY = { GIT_COMMITTER_NAME: 'Sluice', GIT_COMMITTER_EMAIL: 'sluice@localhost' };

/** Changes all refs in one transaction, or none. */
export async function updateRefs(gitDir: string, changes: readonly RefChange[]): Promise<RefAnswer> {
  const lines = inOrder(changes).map(encode);
  const { exitCode, stderr } = await runGit([...PATIENCE, 'update-ref', '-z', '--stdin'], {
    purpose: PURPOSE,
    gitDir,
    extra: IDENTITY,
    input: Buffer.from(lines.join('')),
    expected: [0, 128],
  });
  return exitCode === 0 ? { kind: 'done' } : answerOfComplaint(gitDir, stderr);
}

export function answerOfComplaint(gitDir: string, stderr: string): RefAnswer {
  const fault = gitFault({ purpose: PURPOSE, gitDir }, stderr);
  if (/exists; cannot create/.test(stderr)) return { kind: 'refused', detail: fault.detail };
  if (/but expected|unable to resolve reference|reference already exists/.test(stderr)) return { kind: 'stale' };
  throw fault;
}

export interface HeldRefs {
  release(): Promise<void>;
}

/** Verifies refs and locks them until they are released, or this server dies. */
export async function holdRefs(gitDir: string, changes: readonly RefChange[]): Promise<HeldRefs | RefAnswer> {
  if (changes.length === 0) return { release: async () => undefined };
  const child = startGit([...PATIENCE, 'update-ref', '-z', '--stdin'], { gitDir });
  const stderr = keepTail(child);
  const exit = exitOf(child);
  const prepared = new Promise<void>((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1');
      if (output.includes('prepare: ok\n')) resolve();
    });
  });
  child.stdin.write(`start\0${inOrder(changes).map(encode).join('')}prepare\0`);
  const ended = await Promise.race([prepared, exit]);
  if (ended !== undefined) return answerOfComplaint(gitDir, stderr());
  const release = async () => {
    child.stdin.end('abort\0');
    await exit;
  };
  return { release };
}

/** All transactions take their locks in this order, so two of them cannot deadlock. */
function inOrder(changes: readonly RefChange[]): readonly RefChange[] {
  return changes.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
}

/** A branch may be a symbolic ref to another, and then that one moves. Sluice's own refs are never followed. */
const ITSELF = 'option no-deref\0';

function encode(change: RefChange): string {
  switch (change.kind) {
    case 'set':
      return change.expected === undefined
        ? `${ITSELF}update ${change.ref}\0${change.sha}\0\0`
        : `update ${change.ref}\0${change.sha}\0${change.expected}\0`;
    case 'delete':
      return `${ITSELF}delete ${change.ref}\0\0`;
    case 'verify':
      return `verify ${change.ref}\0${change.sha}\0`;
  }
}

/** Git reads the clock once per process, and reflogs have that time. */
const MAX_AGE_MS = 10_000;

/**
 * The same with a kept process. It holds no lock between transactions, since each is written in one piece. It dies of a
 * transaction that it cannot carry out. Then, or when it was killed, `updateRefs` repeats the changes with longer lock
 * timeouts and reports a reason. A repeated change does no harm, except that a ref with `expected` has already moved:
 * that is answered `stale`, and the caller reads the ref.
 */
export function createRefUpdater(gitDir: string, pool: Pick<ProcessPool, 'add'>): RefUpdater {
  const kept = pool.add(updateRefStdin(gitDir));
  let knownFolder: string | undefined;
  let knownAtMs = 0;
  const change = async (changes: readonly RefChange[]): Promise<RefAnswer> => {
    const transaction = inOrder(changes).map(encodeOnOneLine).join('');
    // After the repository was replaced, the process would continue with the objects of the old one, and create a
    // folder for its ref.
    const folder = identify(gitDir);
    if (folder !== knownFolder || performance.now() - knownAtMs > MAX_AGE_MS) {
      if (folder === undefined || !kept.isIdle) return updateRefs(gitDir, changes);
      kept.retire();
      [knownFolder, knownAtMs] = [folder, performance.now()];
    }
    try {
      await kept.ask([transaction]);
      return { kind: 'done' };
    } catch (error) {
      if (error instanceof Fault && error.code === 'SHUTTING_DOWN') throw error;
      return updateRefs(gitDir, changes);
    }
  };
  const changeForGood = async (changes: readonly RefChange[]): Promise<RefAnswer> => {
    const answer = await change(changes);
    await syncFiles(changes.filter(isGuarded).map(({ ref }) => join(gitDir, ref)));
    return answer;
  };
  return { change: changeForGood, retire: () => kept.retire() };
}

/** A ref with `expected` is a branch of the users. Sluice's own refs can be written again. */
function isGuarded(change: RefChange): boolean {
  return change.kind === 'set' && change.expected !== undefined;
}

function identify(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return undefined;
  }
}

export interface RefUpdater extends Pick<KeptProcess<unknown>, 'retire'> {
  change(changes: readonly RefChange[]): Promise<RefAnswer>;
}

function updateRefStdin(gitDir: string): KeptProcessOptions<'committed'> {
  return {
    purpose: PURPOSE,
    gitDir,
    retries: 0,
    // A leftover lock would block the branch for all users.
    isWriting: true,
    start: () => startGit(['update-ref', '-z', '--stdin'], { gitDir, extra: IDENTITY }),
    createReader: () => new UpdateRefReader(),
    encode: (transactions) =>
      transactions.map((commands) => `start\0${commands.replaceAll(TAB, '\0')}prepare\0commit\0`).join(''),
  };
}

/** No ref name contains a tab. */
const TAB = '\t';

function encodeOnOneLine(change: RefChange): string {
  assert(!change.ref.includes(TAB), 'the name of a ref holds a tab');
  return encode(change).replaceAll('\0', TAB);
}

/** Git answers each step of a transaction with a line. The last one means that it is committed. */
class UpdateRefReader implements AnswerReader<'committed'> {
  #unfinished = '';

  read(chunk: Buffer): readonly 'committed'[] {
    const lines = (this.#unfinished + chunk.toString('latin1')).split('\n');
    this.#unfinished = lines.pop() ?? '';
    for (const line of lines)
      assert(/^(?:start|prepare|commit): ok$/.test(line), 'git update-ref answered with a line nobody knows');
    return lines.filter((line) => line === 'commit: ok').map(() => 'committed');
  }
}
