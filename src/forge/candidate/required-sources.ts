import { CONFIGURATION_FILE, checksOfFile } from '../../checks/file-checks.ts';
import { nameOf, type RequiredStatus } from '../../engine/model/check.ts';
import type { RequiredSources, StartProblem } from '../../engine/model/required.ts';
import type { CommitReader } from '../../git/git.ts';
import { MAX_ALIASES, parseYaml } from '../../lib/parse-yaml.ts';
import { digestCommands } from '../digest-commands.ts';
import type { BuildRequest } from '../forge.ts';

type FileAnswer = Pick<RequiredSources, 'file' | 'fileProblem'>;

/** The first file that exists counts, even when it is malformed. */
const FILES = [CONFIGURATION_FILE, '.trunk/trunk.yaml'];
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 255;
/** An app is named by its slug or its id. */
const APP = /^[a-z0-9][a-z0-9_-]{0,98}$/;

const NOTHING_SAID: FileAnswer = { file: undefined, fileProblem: undefined };

// SPEC C27
export async function readRequiredSources(
  git: CommitReader,
  { base, repository }: Pick<BuildRequest, 'base' | 'repository'>,
): Promise<RequiredSources> {
  const files = await Promise.all(FILES.map((path) => git.findFile(base, path)));
  const bytes = files.find((file) => file !== undefined);
  const answer = bytes === undefined ? NOTHING_SAID : withoutAppsOnPlainGit(parseConfiguration(bytes), repository);
  const checks = checksOfFile(repository, files[0]);
  if ('problem' in checks) return { ...answer, protection: undefined, commands: '', checksProblem: checks.problem };
  const names = [...new Set(checks.map(({ name }) => name))];
  const selecting = checks.flatMap(({ name, selects }) => (selects === undefined ? [] : [name]));
  return {
    ...answer,
    protection: names.length === 0 ? undefined : names,
    ...(selecting.length > 0 && { selecting }),
    commands: digestCommands(checks),
  };
}

export function parseConfiguration(bytes: Buffer): FileAnswer {
  const parsed = parseYaml(bytes, MAX_ALIASES);
  if (parsed === 'unreadable') return problem('START_TEST_RUN_CONFIG_PARSING_FAILURE');
  if (parsed === null || parsed === undefined) return NOTHING_SAID;
  if (!isMapping(parsed)) return problem('START_TEST_RUN_CONFIG_PARSING_FAILURE');
  const { version, merge } = parsed;
  if (version !== undefined && version !== 0.1 && version !== '0.1')
    return problem('START_TEST_RUN_CONFIG_BAD_VERSION');
  if (merge === undefined || merge === null) return NOTHING_SAID;
  if (!isMapping(merge)) return problem('START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES');
  const statuses = merge['required_statuses'];
  if (statuses === undefined) return NOTHING_SAID;
  if (!areStatuses(statuses)) return problem('START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES');
  return { file: unique(statuses), fileProblem: undefined };
}

function problem(fileProblem: StartProblem): FileAnswer {
  return { file: undefined, fileProblem };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Plain git has no apps, so a check bound to an app could never be reported. */
// SPEC G126
function withoutAppsOnPlainGit(answer: FileAnswer, { git }: BuildRequest['repository']): FileAnswer {
  const namesApp = answer.file?.some((status) => typeof status !== 'string') === true;
  return namesApp && git !== undefined ? problem('START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES') : answer;
}

function areStatuses(value: unknown): value is readonly RequiredStatus[] {
  return Array.isArray(value) && value.length <= MAX_NAMES && value.every(isStatus);
}

function isStatus(value: unknown): boolean {
  if (!isMapping(value)) return isName(value);
  return isName(value['name']) && typeof value['app'] === 'string' && APP.test(value['app']);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME_LENGTH;
}

function unique(statuses: readonly RequiredStatus[]): readonly RequiredStatus[] {
  const names = statuses.map(nameOf);
  return statuses.filter((status, index) => names.indexOf(nameOf(status)) === index).map(toStatus);
}

/** Drops unknown fields. */
function toStatus(status: RequiredStatus): RequiredStatus {
  return typeof status === 'string' ? status : { name: status.name, app: status.app };
}
