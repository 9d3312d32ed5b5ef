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

/** Long enough for whoever holds a lock to finish; git itself would give up after a tenth of a second. */
const PATIENCE = ['-c', 'core.filesRefLockTimeout=10000', '-c', 'core.packedRefsTimeout=10000'];

/** For the log of a ref, where the repository keeps one. */
const IDENTITY = { GIT_COMMITTER_NAME: 'Sluice', GIT_COMMITTER_EMAIL: 'sluice@localhost' };

/** Carries all changes out in one transaction, or none. */
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

/** What git says of a ref that it did not change. */
export function answerOfComplaint(gitDir: string, stderr: string): RefAnswer {
  const fault = gitFault({ purpose: PURPOSE, gitDir }, stderr);
  if (/exists; cannot create/.test(stderr)) return { kind: 'refused', detail: fault.detail };
  if (/but expected|unable to resolve reference|reference already exists/.test(stderr)) return { kind: 'stale' };
  throw fault;
}

export interface HeldRefs {
  /** Nobody could change them until now. */
  release(): Promise<void>;
}

/** Verifies refs and keeps them as they are until they are released, or this server dies. */
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

/** Locks are taken in this order: two transactions cannot wait for each other. */
function inOrder(changes: readonly RefChange[]): readonly RefChange[] {
  return changes.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
}

/** A branch may be a second name of another, and then that one moves. What is Sluice's own is never followed. */
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

/** Git looks at the clock once in a process, and that is the time in the logs of refs. */
const MAX_AGE_MS = 10_000;

/**
 * The same by a kept process, which holds no lock between transactions: it is told their beginning and their end in one
 * breath. It dies of a transaction that it cannot carry out; then, or when it was killed, `updateRefs` is asked, with
 * more patience and a reason. Whatever was carried out after all is carried out again without harm, except that a ref
 * with an `expected` has left it: that is answered `stale`, and the caller looks where the ref is.
 */
export function createRefUpdater(gitDir: string, pool: Pick<ProcessPool, 'add'>): RefUpdater {
  const kept = pool.add(updateRefStdin(gitDir));
  let knownFolder: string | undefined;
  let knownAtMs = 0;
  const change = async (changes: readonly RefChange[]): Promise<RefAnswer> => {
    const transaction = inOrder(changes).map(encodeOnOneLine).join('');
    // It would go on with the objects of a repository that is gone, and make a folder for the ref of one.
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

/** What is moved from somewhere is a branch of somebody. Sluice's own refs can be made again. */
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
    // A lock that it leaves behind would close the branch for everybody.
    isWriting: true,
    start: () => startGit(['update-ref', '-z', '--stdin'], { gitDir, extra: IDENTITY }),
    createReader: () => new UpdateRefReader(),
    encode: (transactions) =>
      transactions.map((commands) => `start\0${commands.replaceAll(TAB, '\0')}prepare\0commit\0`).join(''),
  };
}

/** No name of a ref has one in it. */
const TAB = '\t';

function encodeOnOneLine(change: RefChange): string {
  assert(!change.ref.includes(TAB), 'the name of a ref holds a tab');
  return encode(change).replaceAll('\0', TAB);
}

/** Each step of a transaction is answered by a line; it is done with the last. */
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
