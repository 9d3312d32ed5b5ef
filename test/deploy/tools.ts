import { type ExecFileOptions, execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Something that the machine lacks. */
export class Skipped extends Error {}

export function has(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export function need(program: string, why: string): void {
  if (!has(program)) throw new Skipped(`${program} is not installed: ${why}`);
}

/** Standard output; an error has the end of what the program said. */
export async function run(program: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      maxBuffer: 2 ** 26,
      ...options,
      encoding: 'utf8',
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(
      `${program} ${args[0]}: ${`${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n') || message}`,
    );
  }
}
