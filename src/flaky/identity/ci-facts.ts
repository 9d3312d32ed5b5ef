import { type BranchClass, type BranchRules, classifyBranch, cleanBranch } from './branch.ts';
import { CI_PLATFORMS, type Env, type PlatformFacts, parsePrNumber } from './ci-platforms.ts';

/** Facts about the commit from the client's checkout; empty: unknown. */
export interface CommitFacts {
  readonly branch: string;
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  /** The client had no checkout and its user passed these values, so they win over the environment. */
  readonly isUncloned: boolean;
}

/** The CI context of a run. Empty: unknown. */
export interface CiFacts {
  /** Null: no known platform. */
  readonly platform: string | null;
  readonly branch: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly jobUrl: string;
  readonly workflow: string;
  readonly job: string;
  readonly actor: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly committerName: string;
  readonly committerEmail: string;
  readonly commitMessage: string;
  readonly title: string;
}

export interface CiSources {
  readonly envs: ReadonlyMap<string, string>;
  readonly commit: CommitFacts;
  readonly rules: BranchRules;
}

export function readCiFacts({ envs, commit, rules }: CiSources): CiFacts {
  const env: Env = (name) => envs.get(name) || undefined;
  const platform = CI_PLATFORMS.find(({ sign }) => env(sign) !== undefined);
  const said = platform?.read(env) ?? {};
  const prNumber = readPrNumber(said, env);
  const pick = (ofCi: string | undefined, ofCommit: string): string =>
    (commit.isUncloned ? ofCommit || ofCi : ofCi || ofCommit) ?? '';
  const branch = cleanBranch(pick(said.branch, commit.branch));
  return {
    platform: platform?.name ?? null,
    branch,
    branchClass: classifyBranch({ branch, prNumber, isMergeTrain: said.isMergeTrain ?? false }, rules),
    prNumber,
    jobUrl: said.jobUrl ?? '',
    workflow: said.workflow ?? '',
    job: said.job ?? '',
    actor: pick(said.actor, commit.authorEmail || commit.authorName),
    authorName: pick(said.authorName, commit.authorName),
    authorEmail: pick(said.authorEmail, commit.authorEmail),
    committerName: pick(said.committerName, commit.authorName),
    committerEmail: pick(said.committerEmail, commit.authorEmail),
    commitMessage: pick(said.commitMessage, commit.message),
    title: said.title ?? '',
  };
}

/** The uploader's explicit option wins over the platform's variable. */
function readPrNumber(said: PlatformFacts, env: Env): number | null {
  return parsePrNumber(env('TRUNK_PR_NUMBER') ?? '') ?? parsePrNumber(said.prNumber ?? '');
}
