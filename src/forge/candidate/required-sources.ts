import { parseDocument } from 'yaml';
import type { RequiredSources, StartProblem } from '../../engine/required.ts';
import type { GitRepository } from '../../git/git.ts';
import { digestCommands } from '../digest-commands.ts';
import type { BuildRequest } from '../forge.ts';

type FileAnswer = Pick<RequiredSources, 'file' | 'fileProblem'>;

/** The first that is there counts, whatever is in it. */
const FILES = ['.sluice.yaml', '.trunk/trunk.yaml'];
const MAX_BYTES = 64 * 1024;
const MAX_ALIASES = 100;
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 255;

/** Read from the base: a change cannot loosen what it must pass. */
export async function readRequiredSources(
  git: GitRepository,
  { base, repository }: Pick<BuildRequest, 'base' | 'repository'>,
): Promise<RequiredSources> {
  const files = await Promise.all(FILES.map((path) => git.findFile(base, path)));
  const bytes = files.find((file) => file !== undefined);
  const answer = bytes === undefined ? { file: undefined, fileProblem: undefined } : parseConfiguration(bytes);
  const names = [...new Set(repository.checks.map(({ name }) => name))];
  return { ...answer, protection: names.length === 0 ? undefined : names, commands: digestCommands(repository.checks) };
}

export function parseConfiguration(bytes: Buffer): FileAnswer {
  const parsed = parseYaml(bytes);
  if (parsed === 'unreadable') return problem('START_TEST_RUN_CONFIG_PARSING_FAILURE');
  if (parsed === null || parsed === undefined) return { file: undefined, fileProblem: undefined };
  if (!isMapping(parsed)) return problem('START_TEST_RUN_CONFIG_PARSING_FAILURE');
  const { version, merge } = parsed;
  if (version !== undefined && version !== 0.1 && version !== '0.1')
    return problem('START_TEST_RUN_CONFIG_BAD_VERSION');
  if (merge === undefined || merge === null) return { file: undefined, fileProblem: undefined };
  if (!isMapping(merge)) return problem('START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES');
  const statuses = merge['required_statuses'];
  if (statuses === undefined) return { file: undefined, fileProblem: undefined };
  if (!isNames(statuses)) return problem('START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES');
  return { file: [...new Set(statuses)], fileProblem: undefined };
}

function parseYaml(bytes: Buffer): unknown {
  if (bytes.length > MAX_BYTES) return 'unreadable';
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const document = parseDocument(text, { prettyErrors: false });
    return document.errors.length > 0 ? 'unreadable' : document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    // No UTF-8, more aliases than anyone writes, or nested deeper than the stack.
    return 'unreadable';
  }
}

function problem(fileProblem: StartProblem): FileAnswer {
  return { file: undefined, fileProblem };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNames(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_NAMES &&
    value.every((name) => typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME_LENGTH)
  );
}
