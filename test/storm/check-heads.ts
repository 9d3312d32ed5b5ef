import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RULES } from './project.ts';
import type { Violations } from './verdict.ts';

const run = promisify(execFile);
const UNPACK = 'git --git-dir="$1" archive "$2" | tar -x';

/** The rules of the project hold on every pushed head. */
export async function checkHeads(
  violations: Violations,
  { repository, heads }: { readonly repository: string; readonly heads: readonly string[] },
): Promise<void> {
  for (const head of heads) {
    const cwd = await mkdtemp(join(tmpdir(), 'sluice-storm-head-'));
    try {
      await run('sh', ['-c', UNPACK, 'sh', repository, head], { cwd });
      await run('sh', ['-c', RULES], { cwd }).catch(() => violations.add(`the rules do not hold on the head ${head}`));
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  }
}
