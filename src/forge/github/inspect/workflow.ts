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
  readonly name: string;
  /** The name without each `${{ ... }}` in it. A computed name has several. */
  readonly literals: readonly string[];
  readonly hasMatrix: boolean;
  /** The job calls a reusable workflow, whose jobs report as `job / inner job`. */
  readonly isCall: boolean;
}

const MAX_ALIASES = 100;
const MAX_JOBS = 300;
const MAX_NAME = 1_000;

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
    jobs: Object.entries(isMapping(root['jobs']) ? root['jobs'] : {})
      .slice(0, MAX_JOBS)
      .map(([key, job]) => toJob(key, job)),
  };
}

export function runsOn(filter: BranchFilter | undefined, branch: string): boolean {
  if (filter === undefined || filter.isForTagsOnly) return false;
  if (filter.branches !== undefined) return isIncluded(filter.branches, branch);
  return filter.ignored === undefined || !isIncluded(filter.ignored, branch);
}

/** Tells whether a job can report a check of this name. */
export function isNameOf({ name, literals, hasMatrix, isCall }: Job, check: string): boolean {
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
    // Looking for equal keys takes the square of their number.
    const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false });
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
  const { name: given, strategy, uses } = isMapping(job) ? job : ({} as Mapping);
  const name = (typeof given === 'string' ? given : key).slice(0, MAX_NAME);
  return {
    name,
    literals: name.split(/\$\{\{.*?\}\}/s),
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
  let length = 0;
  for (const pattern of patterns) {
    length += pattern.length + 1;
    if (length > MAX_LENGTH) break;
    const isTaken = pattern.startsWith('!');
    if (fits(isTaken ? pattern.slice(1) : pattern, branch)) isIn = !isTaken;
  }
  return isIn;
}

/** Of the patterns of a filter together. */
const MAX_LENGTH = 1_000;

/** Tracks all alternatives at once: at most (length of the pattern) x (length of the text) steps. */
function fits(pattern: string, text: string): boolean {
  const tokens = tokenise(pattern);
  const start = tokens.map(() => false);
  let at = withSkips(tokens, [true, ...start]);
  for (const char of text) {
    const next = [false, ...start];
    for (const [index, token] of tokens.entries()) {
      if (at[index] !== true || !token.fits(char)) continue;
      next[index + 1] = true;
      if (token.isRepeated) next[index] = true;
    }
    at = withSkips(tokens, next);
  }
  return at[tokens.length] === true;
}

function withSkips(tokens: readonly Token[], reached: boolean[]): readonly boolean[] {
  for (const [index, { isOptional }] of tokens.entries()) if (isOptional && reached[index]) reached[index + 1] = true;
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
