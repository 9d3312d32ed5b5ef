import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { NamedTest } from '../../src/checks/selects/select-tests.ts';
import { relativeCase } from '../../src/junit/junit-case.ts';
import { makeFolder } from '../e2e/harness.ts';
import { readReport } from '../helpers/junit.ts';
import { CACHE } from './cache.ts';
import type { TriedFramework } from './frameworks.ts';

const LIMIT_MS = 120_000;

export interface SeenTest extends NamedTest {
  readonly status: 'success' | 'failure' | 'skipped';
}

export interface FrameworkRun {
  readonly code: number;
  /** Undefined: there is no report. */
  readonly seen: readonly SeenTest[] | undefined;
  readonly output: string;
}

export interface TriedProject {
  readonly folder: string;
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<FrameworkRun>;
  /** Files that are neither of the project nor of the framework. */
  strangers(): Promise<readonly string[]>;
}

/** A new folder with the project. Its framework is installed once, below .cache. */
export async function openProject(tried: TriedFramework): Promise<TriedProject> {
  const folder = await makeFolder();
  for (const [name, text] of Object.entries(tried.files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await install(tried, folder);
  const before = new Set(await readdir(folder));
  const report = join(folder, 'report.xml');
  return {
    folder,
    run: async (args, environment = {}) => {
      await rm(report, { force: true });
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...tried.environment, ...environment };
      const [program = '', ...words] = [...tried.command, ...args];
      const { code, output } = await promisify(execFile)(program, words, { cwd: folder, env, timeout: LIMIT_MS }).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        ({ code: failed, stdout, stderr }) => ({ code: Number(failed), output: `${stdout}${stderr}` }),
      );
      return { code, output, seen: existsSync(report) ? seenIn(await readFile(report, 'utf8'), folder) : undefined };
    },
    strangers: async () => (await readdir(folder)).filter((name) => !before.has(name) && name !== 'report.xml'),
  };
}

async function install({ install: wanted }: TriedFramework, folder: string): Promise<void> {
  if (wanted === undefined) return;
  const [name, ...commands] = wanted;
  const place = join(CACHE, name);
  if (!existsSync(place)) {
    const unfinished = `${place}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    for (const [program = '', ...args] of commands) await promisify(execFile)(program, args, { cwd: unfinished });
    await rename(unfinished, place);
  }
  const modules = join(place, 'node_modules');
  if (existsSync(modules)) await symlink(modules, join(folder, 'node_modules'));
}

/** As the server reads it. */
function seenIn(report: string, root: string): readonly SeenTest[] {
  return readReport(report).cases.map((test) => {
    const { name, classname, file, suite, status } = relativeCase(test, root);
    return { name, classname, file, parent: suite === '' ? null : suite, status };
  });
}

export function keyOf({ name, classname, file, parent }: NamedTest): string {
  return JSON.stringify([name, classname, file, parent]);
}
