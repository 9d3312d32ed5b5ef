import { parseDocument } from 'yaml';
import { isIncluded } from './branch-filter.ts';

/** What a workflow file says about when it runs, and the names under which its jobs report. */
export interface Workflow {
  readonly path: string;
  readonly push: BranchFilter | undefined;
  readonly pullRequest: BranchFilter | undefined;
  readonly jobs: readonly Job[];
}

export interface BranchFilter {
  readonly branches: readonly string[] | undefined;
  readonly ignored: readonly string[] | undefined;
  /** It runs for some changes only. */
  readonly hasPaths: boolean;
  readonly isForTagsOnly: boolean;
}

export interface Job {
  /** With `${{ ... }}` in it where it is computed. */
  readonly name: string;
  readonly hasMatrix: boolean;
  /** The jobs of another workflow, reported behind a slash. */
  readonly isCall: boolean;
}

const MAX_ALIASES = 100;

type Mapping = Readonly<Record<string, unknown>>;

/** Undefined where the file is no workflow that anybody could read. */
export function parseWorkflow(path: string, text: string): Workflow | undefined {
  const root = parse(text);
  if (!isMapping(root)) return undefined;
  // Readers of YAML 1.1 take `on` for a truth.
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

/** Whether a check of this name can be a job's. */
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
