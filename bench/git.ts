import { measureCandidates } from './git-candidate.ts';
import { measureHooks } from './git-hooks.ts';
import { measureLandings, measureMemory } from './git-landing.ts';

/**
 * What git work costs, against the same work by git's own commands. A file `git-*.ts` for each question; `git hooks` asks
 * only that one.
 */
export async function run(words: readonly string[] = []): Promise<void> {
  await measureHooks();
  if (words[0] === 'hooks') return;
  await measureCandidates();
  await measureLandings();
  await measureMemory();
}
