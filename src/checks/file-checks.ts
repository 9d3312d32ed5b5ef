import { parseGlob } from '../lib/glob.ts';
import { MAX_YAML_BYTES, parseYaml } from '../lib/parse-yaml.ts';
import type { FileChecksGrant, RunnerCache, RunnerCheck } from './check.ts';
import { FRAMEWORKS, type Framework, takesArguments } from './selects/select-tests.ts';

export const CONFIGURATION_FILE = '.sluice.yaml';

const MAX_CHECKS = 100;
const MAX_COMMAND_LENGTH = 10_000;
const MAX_NAME_LENGTH = 255;
const MAX_LIST = 100;
const MAX_PATH_LENGTH = 250;
const DEFAULT_MINUTES = 60;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
/** The server decides these. */
const RESERVED = /^(?:SLUICE(?:_.*)?|PATH|HOME|TMPDIR|SHELL|LD_PRELOAD|LD_LIBRARY_PATH)$/;

export function isFreeVariable(name: string): boolean {
  return VARIABLE.test(name) && !RESERVED.test(name);
}

export type FileChecks = readonly RunnerCheck[] | { readonly problem: string };

/** The checks of the built-in runner: those of the file, where the repository's registration lets it choose. */
// SPEC R60
export function checksOfFile({ checks: registered, fileChecks }: Chosen, bytes: Buffer | undefined): FileChecks {
  if (fileChecks === undefined || fileChecks === null || bytes === undefined) return registered;
  try {
    return parseChecks(bytes, fileChecks) ?? registered;
  } catch (error) {
    if (error instanceof BadFile) return { problem: `${CONFIGURATION_FILE}: ${error.message}.` };
    throw error;
  }
}

/** Of a caller who may grant everything. */
export function checksOfText(text: string): FileChecks {
  return checksOfFile({ checks: [], fileChecks: EVERYTHING }, Buffer.from(text));
}

export const EVERYTHING: FileChecksGrant = {
  ...{ network: true, userNamespaces: true, longestMinutes: 10_080 },
  secrets: ['*'],
};

/** Of a repository's registration. */
interface Chosen {
  readonly checks: readonly RunnerCheck[];
  readonly fileChecks?: FileChecksGrant | null;
}

class BadFile extends Error {}

function parseChecks(bytes: Buffer, grant: FileChecksGrant): readonly RunnerCheck[] | undefined {
  if (bytes.length > MAX_YAML_BYTES) throw new BadFile('it has more than 64 KiB');
  const file = parseYaml(bytes, 0);
  if (file === 'unreadable') throw new BadFile('it is not valid YAML, or uses aliases');
  const checks = isMapping(file) ? file['checks'] : undefined;
  if (checks === undefined) return undefined;
  const named = Object.entries(mapping(checks, 'checks'));
  if (named.length === 0 || named.length > MAX_CHECKS) throw new BadFile(`checks must name 1 to ${MAX_CHECKS} checks`);
  return named.map(([name, fields]) => parseCheck(name, mapping(fields, `checks.${name}`), grant));
}

type Fields = Readonly<Record<string, unknown>>;

/** Each field of a check, and its reader. A reader answers the part of the check. */
const FIELDS: { readonly [name: string]: (value: unknown, at: string) => Partial<RunnerCheck> } = {
  run: (value, at) => ({ command: textOf(value, at) }),
  prepare: (value, at) => ({ prepare: textOf(value, at) }),
  env: (value, at) => ({ env: variablesOf(value, at) }),
  network: (value, at) => (flagOf(value, at) ? { network: true } : {}),
  userNamespaces: (value, at) => (flagOf(value, at) ? { userNamespaces: true } : {}),
  timeoutMinutes: (value, at) => ({ timeoutMinutes: minutesOf(value, at) }),
  secrets: (value, at) => ({ secrets: listOf(value, at) }),
  junit: (value, at) => ({ junit: listOf(value, at).map((glob) => globOf(glob, at)) }),
  selects: (value, at) => ({ selects: frameworkOf(value, at) }),
  tools: (value, at) => ({ tools: listOf(value, at).map((name) => toolOf(name, at)) }),
  cache: (value, at) => ({ cache: cacheOf(mapping(value, at), at) }),
};

// SPEC R61
function parseCheck(name: string, fields: Fields, grant: FileChecksGrant): RunnerCheck {
  const at = `checks.${name}`;
  if (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH) throw new BadFile(`"${at}" is no name`);
  const unknown = Object.keys(fields).find((field) => !Object.hasOwn(FIELDS, field));
  if (unknown !== undefined) {
    throw new BadFile(`${at}.${unknown} is unknown; a check has ${Object.keys(FIELDS).join(', ')}`);
  }
  const parts = Object.entries(fields).map(([field, value]) => FIELDS[field]?.(value, `${at}.${field}`));
  const read: Partial<RunnerCheck> = Object.assign({}, ...parts);
  if (read.command === undefined) throw new BadFile(`${at}.run is missing: the command of the check`);
  if (read.cache?.result === true && read.prepare === undefined)
    throw new BadFile(`${at}.cache.result: there is no prepare whose result it could hold`);
  if (read.selects !== undefined && !takesArguments(read.command))
    throw new BadFile(`${at}.selects: run does not say where its arguments go: "$@"`);
  const longest = Math.min(grant.longestMinutes, DEFAULT_MINUTES);
  const check = { ...read, name, command: read.command, timeoutMinutes: read.timeoutMinutes ?? longest };
  const excess = excessOf(check, grant);
  if (excess !== undefined) throw new BadFile(`${at} ${excess}: an administrator of the server grants it`);
  return check;
}

// SPEC R62
function excessOf(check: RunnerCheck, grant: FileChecksGrant): string | undefined {
  if (check.network === true && !grant.network) return 'asks for the network, which is not granted';
  if (check.userNamespaces === true && !grant.userNamespaces) return 'asks for user namespaces, which are not granted';
  const secret = check.secrets?.find((name) => !grant.secrets?.some((granted) => granted === name || granted === '*'));
  if (secret !== undefined) return `asks for the secret "${secret}", which is not granted`;
  const minutes = check.timeoutMinutes ?? 0;
  return minutes > grant.longestMinutes
    ? `asks for ${minutes} minutes of the ${grant.longestMinutes} granted`
    : undefined;
}

function textOf(value: unknown, at: string): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_COMMAND_LENGTH) return value;
  throw new BadFile(`${at} must be a text of 1 to ${MAX_COMMAND_LENGTH} characters`);
}

function flagOf(value: unknown, at: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new BadFile(`${at} must be true or false`);
}

function minutesOf(value: unknown, at: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 10_080) return value;
  throw new BadFile(`${at} must be a whole number from 1 to 10080`);
}

function listOf(value: unknown, at: string): readonly string[] {
  const list = typeof value === 'string' ? [value] : value;
  const isList =
    Array.isArray(list) && list.length <= MAX_LIST && list.every((one) => typeof one === 'string' && one !== '');
  if (isList) return list;
  throw new BadFile(`${at} must be a list of at most ${MAX_LIST} texts`);
}

function globOf(glob: string, at: string): string {
  const isInside = !glob.startsWith('/') && !glob.split('/').includes('..');
  const problem = isInside ? parseGlob(glob) : 'leads out of the work tree';
  if (typeof problem === 'string') throw new BadFile(`${at}: "${glob}" ${problem}`);
  return glob;
}

// SPEC R104
function frameworkOf(value: unknown, at: string): Framework {
  const found = FRAMEWORKS.find((name) => name === value);
  if (found !== undefined) return found;
  throw new BadFile(`${at} must be one of ${FRAMEWORKS.join(', ')}`);
}

function toolOf(name: string, at: string): string {
  if (/^[\w.+-]{1,100}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new BadFile(`${at}: "${name}" is no name of a program`);
}

const CACHE_FIELDS = ['key', 'paths', 'verified', 'result'];

// SPEC R89
function cacheOf(fields: Fields, at: string): RunnerCache {
  const unknown = Object.keys(fields).find((field) => !CACHE_FIELDS.includes(field));
  if (unknown !== undefined) throw new BadFile(`${at}.${unknown} is unknown; a cache has ${CACHE_FIELDS.join(', ')}`);
  const [key, paths] = [listOf(fields['key'] ?? [], `${at}.key`), listOf(fields['paths'] ?? [], `${at}.paths`)];
  if (key.length === 0 || paths.length === 0) throw new BadFile(`${at} needs key and paths`);
  const [verified, result] = ['verified', 'result'].map((name) => flagOf(fields[name] ?? false, `${at}.${name}`));
  if (verified && result) throw new BadFile(`${at} is either verified or a result: the result of another key is wrong`);
  return {
    key: key.map((glob) => globOf(glob, `${at}.key`)),
    paths: distinctPaths(paths, `${at}.paths`),
    ...(verified && { verified }),
    ...(result && { result }),
  };
}

/** None lies within another: it would be packed twice. */
function distinctPaths(paths: readonly string[], at: string): readonly string[] {
  const plain = paths.map((path) => path.replace(/\/+$/, ''));
  for (const [index, path] of plain.entries()) {
    const parts = path.replace(/^~\//, '').split('/');
    const isGood = parts.every((part) => !['', '.', '..', '~', '.git'].includes(part)) && !/\p{Cc}/u.test(path);
    if (!isGood || path.length > MAX_PATH_LENGTH)
      throw new BadFile(`${at}: "${paths[index]}" is neither below ~/ nor a path in the work tree`);
    const other = plain.find((one, place) => place !== index && `${path}/`.startsWith(`${one}/`));
    if (other !== undefined) throw new BadFile(`${at}: "${path}" lies within "${other}"`);
  }
  return plain;
}

function variablesOf(value: unknown, at: string): Readonly<Record<string, string>> {
  const pairs = Object.entries(mapping(value, at)).map(([name, text]) => {
    if (!VARIABLE.test(name)) throw new BadFile(`${at}: "${name}" is no name of a variable`);
    if (RESERVED.test(name)) throw new BadFile(`${at}.${name} is the server's`);
    if (typeof text !== 'string' && typeof text !== 'number' && typeof text !== 'boolean')
      throw new BadFile(`${at}.${name} must be a text`);
    return [name, textOf(`${text} `, `${at}.${name}`).slice(0, -1)] as const;
  });
  return Object.fromEntries(pairs);
}

function mapping(value: unknown, at: string): Fields {
  if (isMapping(value)) return value;
  throw new BadFile(`${at} must be a mapping`);
}

function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
