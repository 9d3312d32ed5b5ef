import { runGit } from './exec.ts';

/** Creates a bare repository, or completes an existing one. A template would bring hooks, so none is used. */
export async function initBare(gitDir: string, objectFormat: string): Promise<void> {
  await runGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`, '--end-of-options', gitDir],
    {
      purpose: "make the server's own copy of the repository",
    },
  );
}
