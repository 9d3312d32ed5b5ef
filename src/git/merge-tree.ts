import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import type { Sha } from '../lib/sha.ts';
import { gitFault, runGit, startGit } from './exec.ts';
import type { MergePair, TestMerge } from './git.ts';
import type { AnswerReader, KeptProcessOptions } from './kept-process.ts';
import type { Mirror } from './mirror.ts';
import { writingEnvironment } from './mirror.ts';
import { attributesArguments } from './union-attributes.ts';

export interface MergePlace {
  readonly mirror: Mirror;
  /** The object folder that receives the merged objects. Undefined discards them. */
  readonly keepIn: string | undefined;
  /** The merge drivers of files, as lines of attributes. */
  readonly rules: string;
}

interface OpenObjects {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Conflicts are reported by path only, so an answer stays one flat list. */
const ARGS = ['merge-tree', '--write-tree', '--no-messages', '--name-only'];
const argumentsOf = ({ mirror, rules }: Pick<MergePlace, 'mirror' | 'rules'>) => [
  ...attributesArguments(mirror, rules),
  ...ARGS,
];

/** A merge writes a tree for each folder between the root and a changed file: some 50 kB in a large repository. */
const MERGES_IN_A_SCRATCH_FOLDER = 1_000;

/** A sentence names fewer. */
const MAX_FILES = 20;

/** A pair that cannot be merged at all, as of unrelated histories, ends the process. `mergeTreeOnce` tells why. */
export function mergeTreeStdin(place: MergePlace, wrapper: readonly string[]): KeptProcessOptions<TestMerge> {
  const { mirror } = place;
  return {
    purpose: 'test a merge',
    gitDir: mirror.gitDir,
    retries: 0,
    maxAnswers: place.keepIn === undefined ? MERGES_IN_A_SCRATCH_FOLDER : undefined,
    start: () => {
      const objects = openObjects(place);
      const child = startGit([...argumentsOf(place), '--stdin'], {
        gitDir: mirror.gitDir,
        wrapper,
        extra: objects.environment,
      });
      child.once('close', () => void objects.close());
      return child;
    },
    createReader: () => new MergeTreeReader(),
    encode: (pairs) => `${pairs.join('\n')}\n`,
  };
}

export async function withScratchObjects<Answer>(
  mirror: Mirror,
  act: (environment: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  const objects = openObjects({ mirror, keepIn: undefined });
  try {
    return await act(objects.environment);
  } finally {
    await objects.close();
  }
}

/** The tree with the marks of the conflict, and the files that have them. Undefined if the two merge. */
export async function listConflict(
  place: Pick<MergePlace, 'mirror' | 'rules'>,
  { target, head }: MergePair,
  extra: Readonly<Record<string, string>>,
): Promise<{ readonly tree: Sha; readonly files: readonly string[] } | undefined> {
  const { exitCode, stdout } = await runGit([...argumentsOf(place), '-z', '--end-of-options', target, head], {
    ...{ purpose: 'show a conflict', gitDir: place.mirror.gitDir, extra },
    ...{ expected: [0, 1, 128], maxBytes: 64 * 1024 * 1024 },
  });
  if (exitCode !== 1) return undefined;
  return { tree: stdout.toString('latin1').split('\0', 1)[0] as Sha, files: conflictFiles(stdout) };
}

export async function mergeTreeOnce(place: MergePlace, { target, head }: MergePair): Promise<TestMerge> {
  const objects = openObjects(place);
  try {
    const { exitCode, stdout, stderr } = await runGit([...argumentsOf(place), '-z', '--end-of-options', target, head], {
      purpose: 'test a merge',
      gitDir: place.mirror.gitDir,
      extra: objects.environment,
      expected: [0, 1, 128],
      maxBytes: 64 * 1024 * 1024,
    });
    if (exitCode === 0) return { kind: 'clean', tree: stdout.toString('latin1').split('\0', 1)[0] as Sha };
    if (exitCode === 1) return { kind: 'conflict', files: conflictFiles(stdout) };
    if (stderr.includes('unrelated histories')) return { kind: 'unrelated' };
    // A full or read-only disk is no damage.
    const [unable] = /^.*\bunable to (?:write|create)\b.*$/m.exec(stderr) ?? [];
    if (unable !== undefined) throw gitFault({ purpose: 'write a merge', gitDir: place.mirror.gitDir }, unable);
    throw new Fault('FORGE_UNAVAILABLE', 'Git could not test a merge: the repository is damaged or incomplete.');
  } finally {
    await objects.close();
  }
}

/** Reads `tree NUL (path NUL)* NUL`. */
function conflictFiles(stdout: Buffer): readonly string[] {
  const [, ...files] = stdout.toString('utf8').split('\0', MAX_FILES + 1);
  const end = files.indexOf('');
  return end < 0 ? files : files.slice(0, end);
}

/** The objects of test merges are not needed: each process writes them into a scratch folder that goes with it. */
function openObjects({ mirror, keepIn }: Omit<MergePlace, 'rules'>): OpenObjects {
  if (keepIn !== undefined) return { environment: writingEnvironment(mirror, keepIn), close: async () => undefined };
  const scratch = createScratch(mirror);
  return { environment: writingEnvironment(mirror, scratch), close: () => removeScratch(scratch) };
}

function createScratch(mirror: Mirror): string {
  try {
    const scratch = mkdtempSync(join(mirror.gitDir, 'scratch-'));
    mkdirSync(join(scratch, 'info'));
    writeFileSync(join(scratch, 'info', 'alternates'), `${join(mirror.gitDir, 'objects')}\n`);
    return scratch;
  } catch (cause) {
    throw new Fault('FORGE_UNAVAILABLE', "The server's own copy of the repository cannot be written.", { cause });
  }
}

async function removeScratch(scratch: string): Promise<void> {
  // If this fails, the folder is removed when the mirror is opened again.
  await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
}

/** Parses `status NUL tree NUL (path NUL)* NUL`. Status 1 is a clean merge, 0 a conflict. */
export class MergeTreeReader implements AnswerReader<TestMerge> {
  #unfinished: Buffer = Buffer.alloc(0);
  #status: string | undefined;
  #tree: string | undefined;
  #files: string[] = [];

  read(chunk: Buffer): readonly TestMerge[] {
    const answers: TestMerge[] = [];
    const bytes = this.#unfinished.length === 0 ? chunk : Buffer.concat([this.#unfinished, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      const answer = this.#readField(bytes.toString('utf8', start, end));
      if (answer !== undefined) answers.push(answer);
      start = end + 1;
    }
    this.#unfinished = bytes.subarray(start);
    return answers;
  }

  #readField(field: string): TestMerge | undefined {
    if (this.#status === undefined) {
      assert(field === '0' || field === '1', 'git merge-tree answered with a status nobody knows');
      this.#status = field;
    } else if (this.#tree === undefined) {
      assert(/^[0-9a-f]{40,64}$/.test(field), 'git merge-tree answered without a tree');
      this.#tree = field;
    } else if (field === '') {
      const answer: TestMerge =
        this.#status === '1' ? { kind: 'clean', tree: this.#tree as Sha } : { kind: 'conflict', files: this.#files };
      this.#status = undefined;
      this.#tree = undefined;
      this.#files = [];
      return answer;
    } else if (this.#files.length < MAX_FILES) this.#files.push(field);
    return undefined;
  }
}
