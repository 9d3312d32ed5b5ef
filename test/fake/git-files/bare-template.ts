import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const templates = new Map<string, string>();

/** Copies the result of `git init --bare`. Git runs once per process for the same arguments. */
export function initBare(gitDir: string, args: readonly string[] = []): void {
  cpSync(templates.get(args.join(' ')) ?? createTemplate(args), gitDir, { recursive: true });
}

function createTemplate(args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bare-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'template.git');
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  execFileSync('git', ['init', '--quiet', '--bare', ...args, path], { env });
  // The sample hooks are most of the files, and no test needs them.
  rmSync(join(path, 'hooks'), { recursive: true });
  mkdirSync(join(path, 'hooks'));
  templates.set(args.join(' '), path);
  return path;
}
