import { present } from '../../lib/present.ts';
import { parseIntegerWithin, parseRepo, type RepoRef } from '../core/arguments.ts';
import { chooseOrg, ORG_TEXT, REPO_OPTION_TEXT } from '../core/checkout.ts';
import type { Given, Subject } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import { proposal } from '../core/nearest.ts';
import { findRepo } from '../core/place.ts';
import { formatNextPage } from '../core/terminal.ts';
import { formatName } from './format-test.ts';

/** The repository and organization of the tests, in the API's format. */
export interface TestScope {
  readonly repo: RepoRef;
  readonly org_url_slug: string;
}

interface ScopeOptions {
  readonly org?: string;
  readonly repo?: RepoRef;
}

const SCOPE = { '-R, --repo <repo>': [REPO_OPTION_TEXT, parseRepo], '--org <slug>': ORG_TEXT } as const;

export const TESTS_OF_REPO: Subject<TestScope> = {
  takes: SCOPE,
  find: async (context, _words, { org, repo }: ScopeOptions) => ({
    repo: repo ?? (await findRepo(context)).repo,
    org_url_slug: chooseOrg(org),
  }),
};

export const TEST: Subject<TestScope & { readonly test_id: string }> = {
  takes: {
    '<test>': 'The id of the test, or a part of its name, class, file or suite that only it has.',
    ...SCOPE,
  },
  find: async (context, [words = ''], options) => {
    const scope = await TESTS_OF_REPO.find(context, [], options);
    return { ...scope, test_id: await findTestId(context, scope, words) };
  },
};

export const PAGE = {
  '--limit <number>': ['How many at most, 1 to 100.', parseIntegerWithin(1, 100)],
  '--cursor <cursor>': 'Start after the end of the page before.',
} as const;

export function pageQuery({ limit, cursor }: Given<typeof PAGE>) {
  return present({ page_size: limit, page_token: cursor });
}

/** The values of PAGE as the API names them, and the other ones. */
export function paged<Rest extends Given<typeof PAGE>>({ limit, cursor, ...rest }: Rest) {
  return { ...rest, page_query: pageQuery(present({ limit, cursor })) };
}

/** The hint for the next page, if there is one. */
export function formatMore({ next_page_token }: { readonly next_page_token: string }): string {
  return formatNextPage(next_page_token);
}

export const MONITOR_TEXT = 'The id or the name of the monitor, or its type if only one has it.';

const MONITOR_ID = /^[0-9a-f-]{32,36}$/i;

export async function findMonitorId(context: Context, scope: TestScope, words: string): Promise<string> {
  if (MONITOR_ID.test(words)) return words;
  const { monitors } = await context.call('listMonitors', scope);
  const wanted = words.toLowerCase();
  const byName = monitors.filter(({ name }) => name.toLowerCase() === wanted);
  const byType = monitors.filter(({ type }) => type === wanted.replaceAll(/[- ]/g, '_'));
  const [first, ...others] = byName.length > 0 ? byName : byType;
  if (first !== undefined && others.length === 0) return first.id;
  const known = monitors.map(({ id, name, type }) => `  ${id}  ${name} (${type})`).join('\n');
  const trouble = first === undefined ? `No monitor is called "${words}".` : `Several monitors are called "${words}".`;
  throw new CliError(EXIT.refused, monitors.length === 0 ? trouble : `${trouble} There are:\n${known}`);
}

const TEST_ID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** A longer list does not help in choosing. */
const MAX_LISTED = 20;
const MAX_NEAR = 100;

/** Names that share a part of the words, for a proposal. */
async function listNames(context: Context, scope: TestScope, words: string): Promise<string[]> {
  const half = Math.ceil(words.length / 2);
  const parts = [words.slice(0, half), words.slice(half)].filter((part) => part.trim().length > 1);
  const found = await Promise.all(
    parts.map((query) => context.call('searchTests', { ...scope, query: query.trim(), limit: MAX_NEAR })),
  );
  return found.flatMap(({ tests }) => tests.map(({ name }) => name));
}

// SPEC W19
async function findTestId(context: Context, scope: TestScope, words: string): Promise<string> {
  if (TEST_ID.test(words)) return words;
  const { tests } = await context.call('searchTests', { ...scope, query: words, limit: MAX_LISTED });
  const exact = tests.filter(({ name }) => name === words);
  const [first, ...others] = exact.length > 0 ? exact : tests;
  if (first === undefined) {
    const near = proposal(words, await listNames(context, scope, words));
    throw new CliError(EXIT.refused, `No test has "${words}" in its name, class, file or suite.${near}`);
  }
  if (others.length === 0) return first.id;
  const lines = [first, ...others].map((test) => `  ${test.id}  ${formatName(test)}`);
  const more = tests.length === MAX_LISTED ? '\n  and perhaps more' : '';
  throw new CliError(
    EXIT.refused,
    `Several tests have "${words}" in their names. Say which by its id:\n${lines.join('\n')}${more}`,
  );
}
