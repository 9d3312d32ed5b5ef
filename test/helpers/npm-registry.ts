// A registry of npm packages on this machine, which counts what is asked.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Files besides package.json. */
  readonly files: Readonly<Record<string, string | Buffer>>;
}

export interface NpmRegistry {
  readonly url: string;
  /** The paths of all requests so far. */
  readonly requests: readonly string[];
  /** Puts a version of a package there, and answers its part of a lock file. */
  publish(published: NpmPackage): Promise<object>;
  close(): Promise<void>;
}

export async function createNpmRegistry(): Promise<NpmRegistry> {
  const archives = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const archive = archives.get(path);
    response.writeHead(archive === undefined ? 404 : 200).end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    publish: async (published) => {
      const { name, version } = published;
      const archive = await pack(published);
      const path = `/${name}/-/${name}-${version}.tgz`;
      archives.set(path, archive);
      const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
      return { version, resolved: `${url}${path}`, integrity };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pack({ name, version, files }: NpmPackage): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-npm-'));
  try {
    const all = { 'package.json': JSON.stringify({ name, version }), ...files };
    await mkdir(join(folder, 'package'));
    for (const [file, text] of Object.entries(all)) await writeFile(join(folder, 'package', file), text);
    await run('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
    return await readFile(join(folder, 'package.tgz'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The files of a project that depends on these packages, by their parts of a lock file. */
export function npmProject(url: string, packages: Readonly<Record<string, object>>): Readonly<Record<string, string>> {
  const dependencies = Object.fromEntries(
    Object.entries(packages).map(([name, part]) => [name, (part as { readonly version: string }).version]),
  );
  const root = { name: 'app', version: '1.0.0', dependencies };
  const locked = Object.entries(packages).map(([name, part]) => [`node_modules/${name}`, part]);
  const lock = { name: 'app', version: '1.0.0', lockfileVersion: 3, requires: true };
  return {
    'package.json': JSON.stringify(root),
    'package-lock.json': JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(locked) } }),
    '.npmrc': `registry=${url}/\n`,
  };
}
