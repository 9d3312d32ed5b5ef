import { parseGlob } from '../lib/glob.ts';
import { MAX_YAML_BYTES, parseYaml } from '../lib/parse-yaml.ts';
import { BadManifest, CONFIGURATION, type PathRule, type Problem, type Rules } from './lanes.ts';

const FIELDS = ['paths', 'workspaces', 'barriers', 'otherwise'];
const MAX_NAME_LENGTH = 255;
const MAX_PATTERNS = 5_000;

type Fields = Readonly<Record<string, unknown>>;

/** Undefined: the file says nothing of targets. A problem is a sentence. */
// SPEC T7
export function parseRules(bytes: Uint8Array): Rules | Problem | undefined {
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof BadManifest) return { problem: `${CONFIGURATION}: ${error.message}.` };
    throw error;
  }
}

function parse(bytes: Uint8Array): Rules | undefined {
  if (bytes.length > MAX_YAML_BYTES) throw new BadManifest('it has more than 64 KiB');
  const file = parseYaml(Buffer.from(bytes), 0);
  if (file === 'unreadable') throw new BadManifest('it is not valid YAML, or uses aliases');
  const section = isMapping(file) ? file['targets'] : undefined;
  if (section === undefined || section === null) return undefined;
  if (!isMapping(section)) throw new BadManifest('targets must be a mapping');
  const unknown = Object.keys(section).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new BadManifest(`targets.${shorten(unknown)} is unknown; targets has ${FIELDS.join(', ')}`);
  }
  const { paths = {}, workspaces, barriers = [], otherwise = 'ALL' } = section;
  const rules = {
    paths: parsePaths(paths),
    readsWorkspaces: readsWorkspaces(workspaces),
    barriers: patternsOf(barriers, 'targets.barriers'),
    otherwise: parseOtherwise(otherwise),
  };
  const count = rules.paths.reduce((sum, { patterns }) => sum + patterns.length, rules.barriers.length);
  if (count > MAX_PATTERNS) throw new BadManifest(`targets has more than ${MAX_PATTERNS} patterns`);
  return rules;
}

function parsePaths(paths: unknown): readonly PathRule[] {
  if (!isMapping(paths)) throw new BadManifest('targets.paths must be a mapping of names to patterns');
  return Object.entries(paths).map(([name, patterns]) => {
    const target = nameOf(name, 'targets.paths');
    return { target, patterns: patternsOf(patterns, `targets.paths.${target}`) };
  });
}

function readsWorkspaces(value: unknown): boolean {
  if (value === 'auto') return true;
  if (value === undefined || value === null || value === false || value === 'none') return false;
  throw new BadManifest('targets.workspaces must be auto or none');
}

function parseOtherwise(value: unknown): Rules['otherwise'] {
  if (value === 'ALL') return 'ALL';
  const names = Array.isArray(value) ? value : [value];
  return [...new Set(names.map((name) => nameOf(name, 'targets.otherwise')))];
}

function nameOf(name: unknown, at: string): string {
  const isName = typeof name === 'string' && isTargetName(name);
  if (!isName) throw new BadManifest(`${at}: ${quote(name)} is no name of a target`);
  if (name === 'ALL' || name === 'IMPACTS_ALL') throw new BadManifest(`${at}: ${name} is everything, and no name`);
  return name;
}

/** A line of a log or a terminal holds it. */
export function isTargetName(name: string): boolean {
  return name.trim() === name && name !== '' && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name);
}

function patternsOf(value: unknown, at: string): readonly string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((pattern) => {
    if (typeof pattern !== 'string' || pattern === '') throw new BadManifest(`${at} must be a list of patterns`);
    const problem = problemOf(pattern);
    if (problem !== undefined) throw new BadManifest(`${at}: ${quote(pattern)} ${problem}`);
    return pattern;
  });
}

function problemOf(pattern: string): string | undefined {
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) return 'must begin at the root of the repository';
  if (pattern.endsWith('/')) return 'ends in "/" and matches no file: write /** for all that is in the folder';
  const glob = parseGlob(pattern);
  return typeof glob === 'string' ? glob : undefined;
}

function quote(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? shorten(value) : value) ?? String(value);
}

function shorten(text: string): string {
  return text.slice(0, 100).replaceAll(/\p{Cc}/gu, ' ');
}

function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
