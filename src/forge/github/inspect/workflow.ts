import { parseDocument } from 'yaml';

/** The triggers of a workflow file, and the check names of its jobs. */
export interface Workflow {
  readonly path: string;
  readonly push: BranchFilter | undefined;
  readonly pullRequest: BranchFilter | undefined;
  readonly jobs: readonly Job[];
}

interface BranchFilter {
  readonly branches: readonly string[] | undefined;
  readonly ignored: readonly string[] | undefined;
  /** The trigger has a path filter. */
  readonly hasPaths: boolean;
  readonly isForTagsOnly: boolean;
}

interface Job {
  /** A computed name contains `${{ ... }}`. */
  readonly name: string;
  readonly hasMatrix: boolean;
  /** The job calls a reusable workflow, whose jobs report as `job / inner job`. */
  readonly isCall: boolean;
}

const MAX_ALIASES = 100;

type Mapping = Readonly<Record<string, unknown>>;

/** Undefined when the file is not a readable workflow. */
export function parseWorkflow(path: string, text: string): Workflow | undefined {
  const root = parse(text);
  if (!isMapping(root)) return undefined;
  // YAML 1.1 parsers read the key `on` as true.
  const triggers = root['on'] ?? root['true'];
  return {
    path,
    push: findTrigger(triggers, 'push'),
    pullRequest: findTrigger(triggers, 'pull_request'),
    jobs: Object.entries(isMapping(root['jobs']) ? root['jobs'] : {}).map(([key, job]) => toJob(key, job)),
  };
}

export function runsOn(filter: BranchFilter | undefined, branch: string): boolean {
  if (filter === undefined || filter.isForTagsOnly) return false;
  if (filter.branches !== undefined) return isIncluded(filter.branches, branch);
  return filter.ignored === undefined || !isIncluded(filter.ignored, branch);
}

/** Tells whether a job can report a check of this name. */
export function isNameOf({ name, hasMatrix, isCall }: Job, check: string): boolean {
  const literals = name.split(/\$\{\{.*?\}\}/s);
  const first = literals[0] ?? '';
  if (literals.length > 1) return check.startsWith(first) && hasInOrder(check, literals);
  if (isCall) return check.startsWith(`${name} / `) || (hasMatrix && check.startsWith(`${name} (`));
  return check === name || (hasMatrix && check.startsWith(`${name} (`));
}

function hasInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.endsWith(parts.at(-1) ?? '');
}

function parse(text: string): unknown {
  try {
    const document = parseDocument(text, { prettyErrors: false });
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    return undefined;
  }
}

function findTrigger(triggers: unknown, event: string): BranchFilter | undefined {
  const isNamed = triggers === event || (Array.isArray(triggers) && triggers.includes(event));
  if (isNamed) return { branches: undefined, ignored: undefined, hasPaths: false, isForTagsOnly: false };
  if (!isMapping(triggers) || !(event in triggers)) return undefined;
  const filter = isMapping(triggers[event]) ? triggers[event] : {};
  const branches = texts(filter['branches']);
  const ignored = texts(filter['branches-ignore']);
  const hasTags = filter['tags'] !== undefined || filter['tags-ignore'] !== undefined;
  return {
    branches,
    ignored,
    hasPaths: filter['paths'] !== undefined || filter['paths-ignore'] !== undefined,
    isForTagsOnly: hasTags && branches === undefined && ignored === undefined,
  };
}

function toJob(key: string, job: unknown): Job {
  const { name, strategy, uses } = isMapping(job) ? job : ({} as Mapping);
  return {
    name: typeof name === 'string' ? name : key,
    hasMatrix: isMapping(strategy) && strategy['matrix'] !== undefined,
    isCall: typeof uses === 'string',
  };
}

function texts(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Branch filters of workflows: `*` does not match a slash, `**` does, `!` excludes. */

interface Token {
  readonly fits: (char: string) => boolean;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
}

/** The last matching pattern decides. A list of exclusions alone matches nothing. */
export function isIncluded(patterns: readonly string[], branch: string): boolean {
  let isIn = false;
  for (const pattern of patterns) {
    const isTaken = pattern.startsWith('!');
    if (fits(isTaken ? pattern.slice(1) : pattern, branch)) isIn = !isTaken;
  }
  return isIn;
}

/** A branch has a shorter name. */
const MAX_PATTERN = 1_000;

/** Tracks all alternatives at once, so no pattern causes exponential backtracking. */
function fits(pattern: string, text: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  const tokens = tokenise(pattern);
  let at = withSkips(tokens, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const index of at) {
      const token = tokens[index];
      if (token === undefined || !token.fits(char)) continue;
      next.add(index + 1);
      if (token.isRepeated) next.add(index);
    }
    at = withSkips(tokens, next);
  }
  return at.has(tokens.length);
}

function withSkips(tokens: readonly Token[], from: ReadonlySet<number>): ReadonlySet<number> {
  const reached = new Set(from);
  // Iterating a Set also visits elements that are added during the loop.
  for (const index of reached) if (tokens[index]?.isOptional) reached.add(index + 1);
  return reached;
}

const ANY: Token = { fits: () => true, isOptional: true, isRepeated: true };
const WITHIN: Token = { fits: (char) => char !== '/', isOptional: true, isRepeated: true };

function tokenise(pattern: string): Token[] {
  const tokens: Token[] = [];
  const parts = pattern.match(/\*\*|\\.|\[[^\]]*\]|[\s\S]/g) ?? [];
  for (const part of parts) {
    const last = tokens.at(-1);
    if (part === '**') tokens.push(ANY);
    else if (part === '*') tokens.push(WITHIN);
    else if (part === '?' && last !== undefined) tokens.splice(-1, 1, { ...last, isOptional: true });
    else if (part === '+' && last !== undefined) tokens.splice(-1, 1, { ...last, isRepeated: true });
    else tokens.push({ fits: charTest(part), isOptional: false, isRepeated: false });
  }
  return tokens;
}

function charTest(part: string): (char: string) => boolean {
  if (part.length > 2 && part.startsWith('[')) {
    const ranges = part.slice(1, -1).match(/.-.|./g) ?? [];
    return (char) => ranges.some((range) => char >= (range[0] ?? '') && char <= (range.at(-1) ?? ''));
  }
  const wanted = part.length === 2 ? part[1] : part;
  return (char) => char === wanted;
}
