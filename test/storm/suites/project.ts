import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Changed files; null removes one. */
export type Edit = Readonly<Record<string, string | null>>;

/**
 * Tests that the world adds to those of a project. random10, random20: fail in 10% and 20% of all runs. clock: fails in
 * the first seconds of each minute, as other tests fail only at night. order: fails only right after a certain other one.
 */
export const PLANTED = ['random10', 'random20', 'clock', 'order'] as const;
export type Planted = (typeof PLANTED)[number];

/** A small project with tests of its own, which need no network any more. */
export interface Project {
  readonly name: string;
  /** Everything that is committed at first, except the planted tests. */
  readonly folder: string;
  /** The command of the check. It leaves `report.xml`. */
  readonly check: string;
  /** For the server. */
  readonly environment: Readonly<Record<string, string>>;
  planted(names: readonly Planted[]): Edit;
  /** Adds a test that fails in 40% of all runs. */
  flaky(number: number): Edit;
  /** Adds code and a test of it, which passes. */
  code(number: number): Edit;
  /** Each breaks a test of the project itself, as was tried with this version of it. */
  readonly breaks: readonly Edit[];
  readonly build: Edit;
  readonly scriptless: Edit;
  /** These shell commands take the place of the tests. */
  script(commands: string): Edit;
}

/** The names of planted tests in reports differ by language. */
export function plantedNameOf(reported: string): string | undefined {
  return /planted_?(random10|random20|clock|order|flaky\d+)$/i.exec(reported)?.[1]?.toLowerCase();
}

/** Makes a folder of the cache once. One that was interrupted is made again. */
export async function once(folder: string, make: (unfinished: string) => Promise<unknown>): Promise<string> {
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await make(unfinished);
  await mkdir(dirname(folder), { recursive: true });
  await rename(unfinished, folder);
  return folder;
}

/** For projects whose tests are started by `sh test.sh`. */
export const BY_SCRIPT = {
  scriptless: { 'test.sh': null },
  script: (commands: string) => ({ 'test.sh': `${commands}\n` }),
};

const execute = promisify(execFile);

/** The output of a command; package clients need the environment for their configuration. */
export async function run(
  cwd: string,
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await execute(command, args, { cwd, env: { ...process.env, ...environment } });
  return stdout.trim();
}

/** An edit of one real file. A text that is not there is an error: the package is another than expected. */
export async function replaceIn(folder: string, file: string, from: string, to: string): Promise<Edit> {
  const text = await readFile(join(folder, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  return { [file]: text.replace(from, to) };
}
