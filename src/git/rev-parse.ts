import { dirname } from 'node:path';
import { runGit } from './exec.ts';

export interface RepositoryLayout {
  /** The folder with the refs, shared by all work trees of the repository. */
  readonly gitDir: string;
  readonly objectsDir: string;
  readonly objectFormat: string;
}

/** Undefined when the folder is not a git repository, even if a folder above it is. */
export async function findLayout(folder: string): Promise<RepositoryLayout | undefined> {
  const args = [
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    '--git-path',
    'objects',
    '--show-object-format',
  ];
  const { exitCode, stdout } = await runGit(['-C', folder, ...args], {
    purpose: 'open the repository',
    safeDirectory: folder,
    extra: { GIT_CEILING_DIRECTORIES: dirname(folder) },
    expected: [0, 128],
  });
  const [gitDir, objectsDir, objectFormat] = stdout.toString().split('\n');
  if (exitCode !== 0 || gitDir === undefined || objectsDir === undefined || objectFormat === undefined)
    return undefined;
  return { gitDir, objectsDir, objectFormat };
}
