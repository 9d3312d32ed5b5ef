import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Edit } from './table.ts';

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

  /** Returns the problem if the edits no longer fit the files. */
  apply(edits: readonly Edit[]): string | undefined {
    for (const { file, before, after } of edits) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      const times = text.split(before).length - 1;
      if (times !== 1) return `${file} has this text ${times} times, not once: ${before}`;
      writeFileSync(
        path,
        text.replace(before, () => after),
      );
    }
    return undefined;
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
