import { compilePathPattern, matchesPath, type PathPattern } from '../../lib/path-pattern.ts';
import { createIssueList, type Issue } from './issue.ts';

/** GitHub: the last matching line owns. GitLab: the last matching line of each section owns, and sections add up. */
export type CodeOwnersGrammar = 'github' | 'gitlab';

export interface CodeOwners {
  readonly grammar: CodeOwnersGrammar;
  /** The owners of the file at this path, relative to the root of the repository; may be empty. */
  ownersOf(path: string): readonly string[];
  issues(): readonly Issue[];
}

interface Rule {
  readonly pattern: PathPattern;
  readonly excludes: boolean;
  readonly owners: readonly string[];
}

/** In file order. The lines before the first heading form a section too. */
type Section = readonly Rule[];

interface Heading {
  readonly name: string;
  readonly owners: readonly string[];
}

/** GitHub ignores files over 3 MB. */
const MAX_LENGTH = 3_000_000;
const MAX_LINE_LENGTH = 4_000;
const MAX_RULES = 50_000;
const MAX_OWNERS = 100;
const MAX_PATH_LENGTH = 1_000;
/** A few seconds of matching for each upload; 5,000 ordinary lines and 20,000 files need a third of it. */
const MAX_STEPS = 500_000_000;
/** Reports list the tests of one file together, so a small cache hits almost always. */
const MAX_REMEMBERED = 10_000;

const HEADING = /^\^?\[([^\]]*)\](?:\[\d+\])?(.*)$/;
const OWNER = /^(?:@@?[\w.-]+(?:\/[\w./-]+)?|[^\s@]+@[^\s@]+)$/;
const FILE = 'CODEOWNERS';

export interface CodeOwnersOptions {
  /** Absent: a file with section headings is GitLab's, any other GitHub's. */
  readonly grammar?: CodeOwnersGrammar | undefined;
  readonly maxSteps?: number;
}

// SPEC U4
export function parseCodeOwners(text: string, options: CodeOwnersOptions = {}): CodeOwners {
  const { grammar, maxSteps = MAX_STEPS } = options;
  const issues = createIssueList();
  const warn = (line: number | null, message: string, hint: string) =>
    issues.add({ level: 'warning', file: FILE, line, message, hint });
  if (text.length > MAX_LENGTH) warn(null, 'Only the first 3 MB are read.', 'Use fewer, wider patterns.');
  const lines = text
    .slice(0, MAX_LENGTH)
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/);
  const known = grammar ?? (lines.some((line) => parseHeading(line.trim()) !== undefined) ? 'gitlab' : 'github');
  const sections = parseSections(lines, known, warn);
  return createMatcher(known, sections, { maxSteps, warn, list: issues.list });
}

type Warn = (line: number | null, message: string, hint: string) => void;

function parseSections(lines: readonly string[], grammar: CodeOwnersGrammar, warn: Warn): readonly Section[] {
  const sections = new Map<string, Rule[]>([['', []]]);
  let heading: Heading = { name: '', owners: [] };
  let count = 0;
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.length > MAX_LINE_LENGTH) {
      warn(index + 1, `The line is longer than ${MAX_LINE_LENGTH} characters and is not used.`, 'Split it.');
      continue;
    }
    const found = grammar === 'gitlab' ? parseHeading(line) : undefined;
    if (found !== undefined) {
      heading = found;
      continue;
    }
    count += 1;
    if (count > MAX_RULES) {
      warn(index + 1, `Only the first ${MAX_RULES} lines with patterns are used.`, 'Use fewer, wider patterns.');
      break;
    }
    const rule = parseRule(line, grammar, (message, hint) => warn(index + 1, message, hint));
    const rules = sections.get(heading.name) ?? [];
    if (rules.length === 0) sections.set(heading.name, rules);
    rules.push(rule.owners.length > 0 || rule.excludes ? rule : { ...rule, owners: heading.owners });
  }
  return [...sections.values()];
}

/** `[Name] @owner`, `^[Optional]`, `[Name][2]`. Names that differ in case only are one section. */
function parseHeading(line: string): Heading | undefined {
  const match = HEADING.exec(line);
  if (match === null || line.length > MAX_LINE_LENGTH) return undefined;
  const owners = words(match[2] ?? '');
  // A pattern such as [ab]*.ts also begins with a bracket, but has no space after it.
  if (!/^(?:\s|$)/.test(match[2] ?? '')) return undefined;
  return { name: (match[1] as string).trim().toLowerCase(), owners: owners.filter((word) => OWNER.test(word)) };
}

function parseRule(line: string, grammar: CodeOwnersGrammar, warn: (message: string, hint: string) => void): Rule {
  const [first = '', ...rest] = words(line);
  const excludes = grammar === 'gitlab' && first.startsWith('!');
  const owners: string[] = [];
  for (const word of rest) {
    if (word.startsWith('#')) break;
    if (owners.length === MAX_OWNERS) break;
    if (OWNER.test(word)) owners.push(word);
    else warn(`“${word.slice(0, 100)}” is no owner.`, 'Owners are @user, @org/team or an e-mail address.');
  }
  return { pattern: compile(excludes ? first.slice(1) : first, grammar), excludes, owners };
}

/** Splits at blanks that are not escaped by a backslash. */
function words(line: string): string[] {
  const found: string[] = [];
  let word = '';
  for (let i = 0; i < line.length; i += 1) {
    const character = line[i] as string;
    if (character === '\\' && i + 1 < line.length) {
      word += character + line[i + 1];
      i += 1;
    } else if (character !== ' ' && character !== '\t') {
      word += character;
    } else if (word !== '') {
      found.push(word);
      word = '';
    }
  }
  if (word !== '') found.push(word);
  return found;
}

/**
 * GitHub reads patterns like .gitignore: a slash inside anchors the pattern at the root, and a folder's name owns its
 * content. On GitLab only a leading slash means the root, and only a trailing one a folder.
 */
function compile(pattern: string, grammar: CodeOwnersGrammar): PathPattern {
  const text = pattern.toLowerCase();
  const isFolder = text.endsWith('/');
  const inner = text.replace(/^\//, '').replace(/\/$/, '');
  const fromRoot = text.startsWith('/') || (grammar === 'github' && inner.includes('/'));
  const name = fromRoot ? inner : `**/${inner}`;
  const last = inner.slice(inner.lastIndexOf('/') + 1);
  // `docs/*` matches the files of docs and not those of its folders; `docs` matches everything in it.
  const opensFolders = grammar === 'github' && last !== '*';
  const compiled = compilePathPattern(isFolder ? `${name}/**/*` : name, { classes: grammar === 'gitlab' });
  return opensFolders && !isFolder ? { ...compiled, segments: [...compiled.segments, 'globstar'] } : compiled;
}

// SPEC U52
function createMatcher(
  grammar: CodeOwnersGrammar,
  sections: readonly Section[],
  { maxSteps, warn, list }: { readonly maxSteps: number; readonly warn: Warn; readonly list: () => readonly Issue[] },
): CodeOwners {
  const remembered = new Map<string, readonly string[]>();
  const steps = { count: 0 };
  const find = (path: string): readonly string[] => {
    const segments = normalise(path);
    const owners = new Set<string>();
    for (const section of sections) {
      const rule = section.findLast((each) => steps.count < maxSteps && matchesPath(each.pattern, segments, steps));
      if (rule === undefined) continue;
      const isExcluded = section.some((each) => each.excludes && matchesPath(each.pattern, segments, steps));
      if (!isExcluded) for (const owner of rule.owners) owners.add(owner);
    }
    return [...owners];
  };
  let isExhausted = false;
  return {
    grammar,
    issues: list,
    ownersOf: (path) => {
      const known = remembered.get(path);
      if (known !== undefined || path === '' || path.length > MAX_PATH_LENGTH || isExhausted) return known ?? [];
      const owners = find(path);
      if (steps.count >= maxSteps) {
        isExhausted = true;
        warn(
          null,
          'Owners of further files are left out: the patterns take too long.',
          'Use fewer stars in a pattern.',
        );
        return [];
      }
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(path, owners);
      return owners;
    },
  };
}

function normalise(path: string): string[] {
  const segments = path.toLowerCase().replaceAll('\\', '/').split('/');
  return segments.filter((segment) => segment !== '' && segment !== '.');
}
