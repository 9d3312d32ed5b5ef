import { runGit } from './exec.ts';

/** Makes a bare repository, or completes one that is there. No template: it would bring hooks. */
export async function initBare(gitDir: string, objectFormat: string): Promise<void> {
  await runGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`, '--end-of-options', gitDir],
    {
      purpose: "make the server's own copy of the repository",
    },
  );
}
