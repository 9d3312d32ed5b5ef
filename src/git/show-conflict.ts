import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { ConflictHunks, MergePair } from './git.ts';
import { listConflict, type MergePlace, withScratchObjects } from './merge-tree.ts';
import type { Mirror } from './mirror.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Lines around a hunk. */
const CONTEXT = 3;

/** The hunks of both sides in the files that conflict, as git marks them. Undefined if the two merge. */
export function showConflict(
  place: Pick<MergePlace, 'mirror' | 'rules'>,
  pair: MergePair,
  maxLength: number,
): Promise<ConflictHunks | undefined> {
  const { mirror } = place;
  return withScratchObjects(mirror, async (extra) => {
    const found = await listConflict(place, pair, extra);
    if (found === undefined) return undefined;
    const { tree, files } = found;
    let text = '';
    for (const file of files) {
      const hunks = hunksOf(await readFile(mirror, { tree, file, extra }), maxLength);
      if (hunks !== '') text += `--- ${file}\n${hunks}`;
      if (text.length > maxLength) return { files, text: text.slice(0, maxLength), isCut: true };
    }
    return { files, text, isCut: false };
  });
}

interface MergedFile {
  readonly tree: Sha;
  readonly file: string;
  readonly extra: Readonly<Record<string, string>>;
}

/** Empty for a file that one side deleted, or that is too large. */
async function readFile({ gitDir }: Mirror, { tree, file, extra }: MergedFile): Promise<string> {
  const asked = { purpose: 'show a conflict', gitDir, extra, expected: [0, 128], maxBytes: MAX_FILE_BYTES };
  const name = `${tree}:${file}`;
  const size = await runGit(['cat-file', '-s', name], asked);
  if (size.exitCode !== 0 || Number(size.stdout) > MAX_FILE_BYTES) return '';
  return (await runGit(['cat-file', 'blob', name], asked)).stdout.toString();
}

/** "@@ line 12 @@" and the marked lines, for each, until it is longer than `maxLength`. */
export function hunksOf(text: string, maxLength: number): string {
  const lines = text.split('\n');
  let hunks = '';
  let start = -1;
  for (let index = 0; index < lines.length && hunks.length <= maxLength; index += 1) {
    if (start < 0 && lines[index]?.startsWith('<<<<<<< ')) start = index;
    if (start < 0 || !lines[index]?.startsWith('>>>>>>> ')) continue;
    const shown = lines.slice(Math.max(0, start - CONTEXT), index + 1 + CONTEXT);
    hunks += `@@ line ${start + 1} @@\n${shown.join('\n')}\n`;
    start = -1;
  }
  return hunks;
}
