import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { BoundedCache } from '../../lib/bounded-cache.ts';

export interface Tool {
  readonly name: string;
  /** The file that a command of this name starts, links followed. Undefined: there is none. */
  readonly path: string | undefined;
}

export async function resolveTools(
  names: readonly string[],
  path = process.env['PATH'] ?? '',
): Promise<readonly Tool[]> {
  return Promise.all(names.map(async (name) => ({ name, path: await findTool(name, path.split(delimiter)) })));
}

async function findTool(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const file = await realpath(join(folder, name)).catch(() => undefined);
    if (file === undefined || !(await stat(file)).isFile()) continue;
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return file;
  }
  return undefined;
}

/** By path, size and time: a tool of a hundred megabytes is read once. */
const digests = new BoundedCache<string, string>(1_000);

export async function digestStream(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of stream) hash.update(bytes);
  return hash.digest('hex');
}

export async function digestTool(file: string): Promise<string> {
  const { size, mtimeNs, ino } = await stat(file, { bigint: true });
  const state = `${file} ${ino} ${size} ${mtimeNs}`;
  const digest = digests.find(state) ?? (await digestStream(createReadStream(file)));
  digests.set(state, digest);
  return digest;
}
