import type { Reporter } from './check.ts';
import type { ReasonCode } from './reason.ts';
import { nameOf, type RequiredStatus } from './required-status.ts';
import type { QueueSettings } from './settings.ts';

export const REQUIRED_SOURCES = ['MERGE_INSTANCE', 'TRUNK_CONFIG', 'REPO_PROVIDER_BRANCH_PROTECTION'] as const;
export type RequiredSource = (typeof REQUIRED_SOURCES)[number];

/** The checks a candidate must pass, as they were when its commit was built. */
export interface RequiredChecks {
  readonly names: readonly string[];
  /** Of the names that only one app may report: that app. Absent where there are none. */
  readonly apps?: Readonly<Record<string, string>>;
  readonly source: RequiredSource;
  /** Stands for the commands of the built-in runner: a tree that passed other commands has not passed these. */
  readonly commands: string;
}

/** What the repository itself says about required checks, read from the candidate's base and from the forge. */
export interface RequiredSources {
  /** `merge.required_statuses` of the configuration file on the base; undefined without such a file or key. */
  readonly file: readonly RequiredStatus[] | undefined;
  /** The file is there and cannot be used. */
  readonly fileProblem: StartProblem | undefined;
  /** The forge's protection of the target; on plain git the registered checks. Undefined where nothing is required. */
  readonly protection: readonly RequiredStatus[] | undefined;
  readonly commands: string;
}

export type StartProblem = Extract<ReasonCode, `START_TEST_RUN_${string}`>;

/** The first source that says anything, never a union of several. */
export function requiredChecks(settings: QueueSettings, sources: RequiredSources): RequiredChecks | StartProblem {
  const { commands } = sources;
  if (settings.requiredStatuses !== null) {
    return { ...byName(settings.requiredStatuses), source: 'MERGE_INSTANCE', commands };
  }
  if (sources.fileProblem !== undefined) return sources.fileProblem;
  if (sources.file !== undefined) return { ...byName(sources.file), source: 'TRUNK_CONFIG', commands };
  if (sources.protection !== undefined && sources.protection.length > 0) {
    return { ...byName(sources.protection), source: 'REPO_PROVIDER_BRANCH_PROTECTION', commands };
  }
  return 'START_TEST_RUN_NO_REQUIRED_STATUSES';
}

/** Passing the one is passing the other. */
export function areSameChecks(a: RequiredChecks, b: RequiredChecks): boolean {
  return (
    a.commands === b.commands &&
    a.names.length === b.names.length &&
    a.names.every((name) => b.names.includes(name) && appFor(a, name) === appFor(b, name))
  );
}

/** The only app that may report this check; undefined where anybody may. */
export function appFor({ apps = {} }: RequiredChecks, name: string): string | undefined {
  return Object.hasOwn(apps, name) ? apps[name] : undefined;
}

export function isReportedBy(app: string, reporter: Reporter): boolean {
  return app === reporter.app || app === reporter.appId;
}

/** A name that is there twice counts once; where one of them names an app, that app must report it. */
function byName(statuses: readonly RequiredStatus[]): Pick<RequiredChecks, 'names' | 'apps'> {
  const names = [...new Set(statuses.map(nameOf))];
  const apps = statuses.filter((status) => typeof status !== 'string').map(({ name, app }) => [name, app] as const);
  return apps.length === 0 ? { names } : { names, apps: Object.fromEntries(apps.reverse()) };
}
