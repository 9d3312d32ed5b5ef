import { anyOf, escapeRegExp, globOf, goPattern, jsPattern, pytestExpression, pytestModule } from './patterns.ts';

/** Test frameworks whose arguments can select tests. */
export const FRAMEWORKS = ['pytest', 'vitest', 'jest', 'go', 'node'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** A test, as the reports of its framework name it. */
export interface NamedTest {
  readonly name: string;
  readonly file: string | null;
  readonly classname: string | null;
  /** The outermost suite. */
  readonly parent: string | null;
}

/** `args` end the command of the framework, and select at least the tests; no arguments select all. */
export interface Selection {
  readonly framework: Framework;
  readonly by: 'tests' | 'files' | 'nothing';
  readonly args: readonly string[];
}

const MAX_TESTS = 50;
const MAX_BYTES = 8 * 1024;
/** Reports cut a name at 8,000 bytes. A pattern for the rest of it would match nothing. */
const MAX_NAME_LENGTH = 2_000;

type Tests = readonly NamedTest[];
/** Undefined: the names do not tell. */
type Args = readonly string[] | undefined;

interface Selector {
  byTests(tests: Tests): Args;
  /** All tests of their files, or of their packages. */
  byFiles(tests: Tests): Args;
  /** The exit code of a command that found no test, where that is a code of its own. */
  readonly nothing?: number;
}

const SELECTORS: { readonly [Name in Framework]: Selector } = {
  pytest: {
    byTests: (tests) => expression(tests.map(({ classname, name }) => pytestExpression(classname ?? '', name))),
    byFiles: (tests) => expression(tests.map(({ classname }) => pytestModule(classname ?? ''))),
    nothing: 5,
  },
  vitest: {
    byTests: (tests) => [NONE_PASSES, `--testNamePattern=${onlyNames(tests)}`, ...(each(tests, vitestFile) ?? [])],
    byFiles: (tests) => behind([NONE_PASSES], each(tests, vitestFile)),
  },
  jest: {
    byTests: (tests) => [NONE_PASSES, `--testNamePattern=${lastNames(tests)}`, ...(each(tests, jestFile) ?? [])],
    byFiles: (tests) => behind([NONE_PASSES], each(tests, jestFile)),
  },
  go: {
    byTests: (tests) => behind(each(tests, goPackage), ['-run', goPattern(tests.map(({ name }) => name))]),
    byFiles: (tests) => each(tests, goPackage),
  },
  node: {
    byTests: (tests) => [`--test-name-pattern=${outerNames(tests)}`, ...(each(tests, nodeFile) ?? [])],
    byFiles: (tests) => each(tests, nodeFile),
  },
};

/** Arguments that select these tests, else their files, else everything: a name of a test never becomes an option or a command. */
// SPEC R102
export function selectTests(framework: Framework, tests: Tests): Selection {
  const { byTests, byFiles } = SELECTORS[framework];
  const isShort = tests.length <= MAX_TESTS && tests.every(({ name }) => name.length <= MAX_NAME_LENGTH);
  const named = isShort && tests.length > 0 ? byTests(tests) : undefined;
  if (named !== undefined && fits(named)) return { framework, by: 'tests', args: named };
  const args = tests.length === 0 ? undefined : byFiles(tests);
  return args !== undefined && fits(args) ? { framework, by: 'files', args } : { framework, by: 'nothing', args: [] };
}

/** Unquoted, a shell would cut them at white space. */
// SPEC R104
export function takesArguments(command: string): boolean {
  return /"\$(?:@|\{@(?::?-[^}]*)?\})"/.test(command);
}

/** A command in which no test was selected has not failed. */
// SPEC R103
export function selectedNothing({ framework, by }: Selection, exitCode: number): boolean {
  return by !== 'nothing' && SELECTORS[framework].nothing === exitCode;
}

function fits(args: readonly string[]): boolean {
  return (
    args.reduce((bytes, arg) => bytes + Buffer.byteLength(arg) + 1, 0) <= MAX_BYTES &&
    !args.some((arg) => arg.includes('\0'))
  );
}

/** A module that cannot be imported would keep the others from running. */
function expression(words: readonly (string | undefined)[]): Args {
  const known = words.filter((each) => each !== undefined);
  return known.length < words.length
    ? undefined
    : ['--continue-on-collection-errors', '-k', [...new Set(known)].join(' or ')];
}

/** The file of a test may be new. As the first argument it also ends the list of an option before it. */
const NONE_PASSES = '--passWithNoTests';

function onlyNames(tests: Tests): string {
  return String.raw`^\s*(?:${anyOf(tests.map(({ name }) => jsPattern(name)))})\s*$`;
}

/** jest-junit can be told to leave the suites out of a name. */
function lastNames(tests: Tests): string {
  return String.raw`(?:^|\s)(?:${anyOf(tests.map(({ name }) => jsPattern(name)))})\s*$`;
}

/** A test within another test runs with that one alone, and reports show it as one in a suite. They escape quotes twice. */
function outerNames(tests: Tests): string {
  const outer = anyOf(tests.map(({ parent, name }) => jsPattern(parent || name)));
  return String.raw`^\s*(?:${outer.replaceAll('&quot;', '(?:"|&quot;)')})\s*$`;
}

/** One for all tests that tell the same. Undefined: a test does not tell. */
function each(tests: Tests, tell: (test: NamedTest) => string | undefined): Args {
  const told = tests.map(tell);
  return told.includes(undefined) ? undefined : [...new Set(told as string[])].sort();
}

function behind(first: Args, last: Args): Args {
  return first === undefined || last === undefined ? undefined : [...first, ...last];
}

/** Its reporter has the file as suite and as class. */
function vitestFile({ file, parent }: NamedTest): string | undefined {
  const path = pathOf(file || parent);
  return path?.startsWith('-') ? `./${path}` : path;
}

/** A pattern: any path that ends so. */
function jestFile({ file }: NamedTest): string | undefined {
  const path = pathOf(file);
  return path === undefined ? undefined : `(?:^|/)${escapeRegExp(path)}$`;
}

function nodeFile({ file }: NamedTest): string | undefined {
  const path = pathOf(file);
  return path === undefined ? undefined : globOf(path);
}

/** Absolute ones are of another machine. */
function pathOf(path: string | null | undefined): string | undefined {
  return /^[^/\\][^\\]*\.[cm]?[jt]sx?$/.test(path ?? '') && path?.split('/').includes('..') === false
    ? path
    : undefined;
}

function goPackage({ parent, classname }: NamedTest): string | undefined {
  const path = parent || classname || '';
  return /^[\w.~][\w.~+/-]*$/.test(path) ? path : undefined;
}
