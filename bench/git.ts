import { measureCandidates } from './git-candidate.ts';
import { measureLandings, measureMemory } from './git-landing.ts';

/** What git work costs, against the same work by git's own commands. A file `git-*.ts` for each question. */
export async function run(): Promise<void> {
  await measureCandidates();
  await measureLandings();
  await measureMemory();
}
