import type { ReasonCode } from './reason.ts';
import type { QueueSettings } from './settings.ts';

export const REQUIRED_SOURCES = ['MERGE_INSTANCE', 'TRUNK_CONFIG', 'REPO_PROVIDER_BRANCH_PROTECTION'] as const;
export type RequiredSource = (typeof REQUIRED_SOURCES)[number];

/** The checks a candidate must pass, as they were when its commit was built. */
export interface RequiredChecks {
  readonly names: readonly string[];
  readonly source: RequiredSource;
  /** Stands for the commands of the built-in runner: a tree that passed other commands has not passed these. */
  readonly commands: string;
}

/** What the repository itself says about required checks, read from the candidate's base and from the forge. */
export interface RequiredSources {
  /** `merge.required_statuses` of the configuration file on the base; undefined without such a file or key. */
  readonly file: readonly string[] | undefined;
  /** The file is there and cannot be used. */
  readonly fileProblem: StartProblem | undefined;
  /** The forge's protection of the target; on plain git the registered checks. Undefined where nothing is required. */
  readonly protection: readonly string[] | undefined;
  readonly commands: string;
}

export type StartProblem = Extract<ReasonCode, `START_TEST_RUN_${string}`>;

/** The first source that says anything, never a union of several. */
export function requiredChecks(settings: QueueSettings, sources: RequiredSources): RequiredChecks | StartProblem {
  const { commands } = sources;
  if (settings.requiredStatuses !== null) {
    return { names: settings.requiredStatuses, source: 'MERGE_INSTANCE', commands };
  }
  if (sources.fileProblem !== undefined) return sources.fileProblem;
  if (sources.file !== undefined) return { names: sources.file, source: 'TRUNK_CONFIG', commands };
  if (sources.protection !== undefined && sources.protection.length > 0) {
    return { names: sources.protection, source: 'REPO_PROVIDER_BRANCH_PROTECTION', commands };
  }
  return 'START_TEST_RUN_NO_REQUIRED_STATUSES';
}

/** Passing the one is passing the other. */
export function areSameChecks(a: RequiredChecks, b: RequiredChecks): boolean {
  return a.commands === b.commands && a.names.length === b.names.length && a.names.every((n) => b.names.includes(n));
}
