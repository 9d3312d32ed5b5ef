import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Edit } from './table.ts';

/** Returns the problem if the edits no longer fit the files. */
export function findMisfit(root: string, edits: readonly Edit[]): string | undefined {
  for (const { file, before } of edits) {
    const path = join(root, file);
    const times = existsSync(path) ? readFileSync(path, 'utf8').split(before).length - 1 : 0;
    if (times !== 1) return `${file} has this text ${times} times, not once: ${before}`;
  }
  return undefined;
}

/** A copy of the project with uncommitted changes. Faults are applied there. */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-mutations-'));
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const file of new Set(listed.toString().split('\0').filter(Boolean))) this.#restore(file);
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  apply(edits: readonly Edit[]): void {
    for (const { file, before, after } of edits) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        text.replace(before, () => after),
      );
    }
  }

  undo(edits: readonly Edit[]): void {
    for (const { file } of edits) this.#restore(file);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #restore(file: string): void {
    const to = join(this.folder, file);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(this.#root, file), to);
  }
}
