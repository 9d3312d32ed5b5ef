import { matchesPattern } from '../../lib/matches-pattern.ts';
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
  /** Checks whose failure fails the candidate too. Absent if there are none. */
  readonly failFast?: readonly RequiredStatus[];
  /** Checks that can run the tests of a question alone. Absent if there are none. */
  readonly selecting?: readonly string[];
  /** Of a probe: the required checks, none of which may report on its commit. */
  readonly stray?: readonly string[];
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
  /** The checks of the built-in runner that name their test framework (`selects`). Absent if there are none. */
  readonly selecting?: readonly string[];
  /** Why the checks in the repository's file cannot run. */
  readonly checksProblem?: string;
  /** Every account with write access can report a check at this forge, so a name is bound to who reported it. */
  readonly isPinned?: true;
}

/** The last pass of a check, and who reported it. */
interface ReportedPass {
  readonly check: string;
  readonly reporter?: string;
}

export type StartProblem = Extract<ReasonCode, `START_TEST_RUN_${string}`>;

/** The first source that names required checks wins. Sources are never merged. */
// SPEC C7, C30, R62
export function requiredChecks(
  settings: QueueSettings,
  sources: RequiredSources,
  lastPasses: readonly ReportedPass[],
): RequiredChecks | StartProblem {
  const { commands } = sources;
  if (sources.checksProblem !== undefined) return 'START_TEST_RUN_CONFIG_BAD_CHECKS';
  const pins = sources.isPinned === true ? lastPasses : [];
  const { failFastStatuses: failFast } = settings;
  const canSelect = new Set([...(sources.selecting ?? []), ...settings.probeStatuses]);
  const from = (source: RequiredSource, statuses: readonly RequiredStatus[]): RequiredChecks => {
    const named = byName(statuses, failFast, pins);
    const selecting = named.names.filter((name) => canSelect.has(name));
    const more = { ...(failFast.length > 0 && { failFast }), ...(selecting.length > 0 && { selecting }) };
    return { ...named, source, ...more, commands };
  };
  if (settings.requiredStatuses !== null) return from('MERGE_INSTANCE', settings.requiredStatuses);
  if (sources.fileProblem !== undefined) return sources.fileProblem;
  if (sources.file !== undefined) return from('TRUNK_CONFIG', sources.file);
  if (sources.protection !== undefined && sources.protection.length > 0) {
    return from('REPO_PROVIDER_BRANCH_PROTECTION', sources.protection);
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
export function appFor(required: RequiredChecks, name: string): string | undefined {
  const { apps = {} } = required;
  if (Object.hasOwn(apps, name)) return apps[name];
  const status = failFastOf(required, name);
  return typeof status === 'object' && status.app !== ANYONE ? status.app : undefined;
}

/** The first status that names the check. Undefined for a required check. */
function failFastOf(
  { names, failFast = [] }: Pick<RequiredChecks, 'names' | 'failFast'>,
  name: string,
): RequiredStatus | undefined {
  return names.includes(name) ? undefined : failFast.find((status) => matchesPattern(nameOf(status), name));
}

/** Its failure fails the candidate, and its pass means nothing. */
// SPEC V83
export function isFailFast(required: RequiredChecks | undefined, name: string): boolean {
  return required !== undefined && failFastOf(required, name) !== undefined;
}

// SPEC G125
export function isReportedBy(app: string, reporter: Reporter): boolean {
  return app === reporter.reporter || app === reporter.reporterId;
}

/** Any account may report the check, also at a forge where a name is bound to who reported it. */
export const ANYONE = '*';

/**
 * A duplicate name counts once. If one of the duplicates names an app, that app must report it. A pinned name must be
 * reported by who reported it for the last landing.
 */
// SPEC G171
function byName(
  statuses: readonly RequiredStatus[],
  failFast: readonly RequiredStatus[],
  pins: readonly ReportedPass[],
): Pick<RequiredChecks, 'names' | 'apps'> {
  const names = [...new Set(statuses.map(nameOf))];
  const isNamed = (check: string) =>
    names.includes(check) || typeof failFastOf({ names, failFast }, check) === 'string';
  const pinned = pins.flatMap(({ check, reporter }) =>
    reporter !== undefined && isNamed(check) ? [[check, reporter] as const] : [],
  );
  const named = statuses.filter((status) => typeof status !== 'string').map(({ name, app }) => [name, app] as const);
  const apps = [...pinned, ...named.reverse()];
  const counted = Object.entries(Object.fromEntries(apps)).filter(([, app]) => app !== ANYONE);
  return counted.length === 0 ? { names } : { names, apps: Object.fromEntries(counted) };
}
