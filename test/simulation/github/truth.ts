import type { Candidate } from '../../../src/engine/model/candidate.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { Files } from '../../fake/git-model.ts';
import { gitLines, gitText } from '../../fake/hosted/git.ts';
import { type Finding, Jury, type Truth } from '../blame.ts';
import type { Chapter, Chronicle } from '../chronicle.ts';
import type { GithubCi } from './ci.ts';
import { readFiles } from './real-git.ts';

export interface RemovalsOptions {
  readonly chronicle: Chronicle;
  readonly ci: GithubCi;
  readonly gitDir: string;
  /** The chapters with a removal. */
  readonly chapters: readonly Chapter[];
}

/** Judges all removals at the end, because real git answers too late for a judgement in each chapter. */
export async function judgeRemovals(options: RemovalsOptions): Promise<readonly Finding[]> {
  const jury = new Jury(options.chronicle, await readTruth(options));
  return options.chapters.flatMap((chapter) => jury.judge(chapter));
}

async function readTruth({ chronicle, ci, gitDir, chapters }: RemovalsOptions): Promise<Truth> {
  const files = new Map<string, Files>();
  const paths = new Map<string, ReadonlySet<string>>();
  const learn = async (run: Candidate, head: Sha) => {
    for (const sha of [run.commit?.sha, run.base.sha]) {
      if (sha !== undefined && !files.has(sha)) files.set(sha, await readFiles(gitDir, sha));
    }
    const key = `${head} ${run.base.sha}`;
    if (!paths.has(key)) paths.set(key, await readOwnPaths(gitDir, head, run.base.sha));
  };
  for (const { step } of chapters) {
    for (const { state, pr, submission } of step.ended) {
      const isInside = ({ members, beneath }: Candidate) =>
        [...members, ...beneath].some((member) => member.submission === submission);
      const runs = state === 'FAILED' ? [...chronicle.candidates.values()].filter(isInside) : [];
      // Commits that were never in the repository, or no longer are, leave the question open.
      for (const run of runs) await learn(run, pr.headSha).catch(() => undefined);
    }
  }
  return {
    filesOfRun: ({ commit }) => (commit === undefined ? undefined : files.get(commit.sha)),
    filesOfHead: (sha) => files.get(sha),
    ownPaths: (head, base) => paths.get(`${head} ${base}`),
    conflicts: () => undefined,
    record: ci.record,
    isStillThere: () => false,
    isBlind: false,
  };
}

async function readOwnPaths(gitDir: string, head: string, base: string): Promise<ReadonlySet<string>> {
  const fork = (await gitText(gitDir, ['merge-base', head, base])).trim();
  return new Set(await gitLines(gitDir, ['diff', '--name-only', fork, head]));
}
