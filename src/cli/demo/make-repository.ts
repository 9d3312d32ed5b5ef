import { fastImport, type ImportedCommit } from '../../git/fast-import.ts';
import { initBare } from '../../git/init.ts';
import { setHead } from '../../git/symbolic-ref.ts';
import { SHOP } from './shop.ts';
import { STORY } from './story.ts';

export const BRANCH = 'main';

/** A Monday morning. Fixed, so that the commits are the same every time. */
const BEGIN = Date.UTC(2026, 0, 5, 9) / 1000;

/** A bare repository with the shop on its main branch, and each pull request of the story one commit ahead of it. */
export async function makeRepository(gitDir: string): Promise<void> {
  await initBare(gitDir, 'sha1');
  await fastImport(gitDir, [
    { ref: `refs/heads/${BRANCH}`, author: formatAuthor('Ada'), at: BEGIN, message: 'Open the shop\n', files: SHOP },
    ...STORY.map(
      ({ number, author, title, files }): ImportedCommit => ({
        ref: `refs/pull/${number}/head`,
        parent: 0,
        author: formatAuthor(author),
        at: BEGIN + number * 60,
        message: `${title}\n`,
        files,
      }),
    ),
  ]);
  await setHead(gitDir, BRANCH);
}

function formatAuthor(name: string): string {
  return `${name} <${name.toLowerCase()}@example.com>`;
}
