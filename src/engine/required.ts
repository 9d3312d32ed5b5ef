import { nameOf, type Reporter, type RequiredStatus } from './check.ts';
import type { ReasonCode } from './reason.ts';
import type { QueueSettings } from './settings.ts';

export const REQUIRED_SOURCES = ['MERGE_INSTANCE', 'TRUNK_CONFIG', 'REPO_PROVIDER_BRANCH_PROTECTION'] as const;
export type RequiredSource = (typeof REQUIRED_SOURCES)[number];

/** The checks a candidate must pass, as of the build of its commit. */
export interface RequiredChecks {
  readonly names: readonly string[];
  /** The app of every name that only one app may report. Absent if there are none. */
  readonly apps?: Readonly<Record<string, string>>;
  readonly source: RequiredSource;
  /** Identifies the commands of the built-in runner. A tree that passed other commands has not passed these. */
  readonly commands: string;
}

/** The sources of required checks, read from the candidate's base and from the forge. */
export interface RequiredSources {
  /** `merge.required_statuses` of the configuration file on the base. Undefined without that file or key. */
  readonly file: readonly RequiredStatus[] | undefined;
  /** The file exists and is unusable. */
  readonly fileProblem: StartProblem | undefined;
  /**
   * The forge's protection of the target branch, or the registered checks on plain git. Undefined if nothing is
   * required.
   */
  readonly protection: readonly RequiredStatus[] | undefined;
  readonly commands: string;
}

export type StartProblem = Extract<ReasonCode, `START_TEST_RUN_${string}`>;

/** The first source that names required checks wins. Sources are never merged. */
// SPEC C7, C30
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

/** A pass of the one is a pass of the other. */
export function areSameChecks(a: RequiredChecks, b: RequiredChecks): boolean {
  return (
    a.commands === b.commands &&
    a.names.length === b.names.length &&
    a.names.every((name) => b.names.includes(name) && appFor(a, name) === appFor(b, name))
  );
}

/** The only app that may report this check; undefined if any app may. */
// SPEC G65
export function appFor({ apps = {} }: RequiredChecks, name: string): string | undefined {
  return Object.hasOwn(apps, name) ? apps[name] : undefined;
}

// SPEC G125
export function isReportedBy(app: string, reporter: Reporter): boolean {
  return app === reporter.reporter || app === reporter.reporterId;
}

/** A duplicate name counts once. If one of the duplicates names an app, that app must report it. */
function byName(statuses: readonly RequiredStatus[]): Pick<RequiredChecks, 'names' | 'apps'> {
  const names = [...new Set(statuses.map(nameOf))];
  const apps = statuses.filter((status) => typeof status !== 'string').map(({ name, app }) => [name, app] as const);
  return apps.length === 0 ? { names } : { names, apps: Object.fromEntries(apps.reverse()) };
}
