import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { SLUICE, SLUICE_BIN } from '../helpers/sluice-command.ts';

/** The arguments with which Node runs this code under another version: links to all of it beside a `package.json` of its own. */
export async function makeVersion(folder: string, version: string): Promise<readonly string[]> {
  let root = dirname(SLUICE_BIN);
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  await mkdir(folder);
  for (const name of await readdir(root)) {
    if (name !== 'package.json') await symlink(join(root, name), join(folder, name));
  }
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  return [...SLUICE.slice(0, -1), join(folder, relative(root, SLUICE_BIN))];
}
