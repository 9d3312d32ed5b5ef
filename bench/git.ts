import { measureCandidates } from './git-candidate.ts';
import { measureHooks } from './git-hooks.ts';
import { measureLandings, measureMemory } from './git-landing.ts';

/**
 * The cost of git work, compared with git's own commands. One file `git-*.ts` per question; `git hooks` runs only that
 * one.
 */
export async function run(words: readonly string[] = []): Promise<void> {
  await measureHooks();
  if (words[0] === 'hooks') return;
  await measureCandidates();
  await measureLandings();
  await measureMemory();
}
