import { searchTests } from '../../contract/flaky-tests.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import type { TestScope } from './scope.ts';
import { formatName } from './test-words.ts';

export const TEST_TEXT = 'The id of the test, or a part of its name, class, file or suite that only it has.';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** More are no help in choosing. */
const MAX_LISTED = 20;

/** The id of the test that the words mean. Where they mean several, these are listed. */
export async function findTestId(context: Context, scope: TestScope, words: string): Promise<string> {
  if (UUID.test(words)) return words;
  const { tests } = await context.call(searchTests, { ...scope, query: words, limit: MAX_LISTED });
  const exact = tests.filter(({ name }) => name === words);
  const [first, ...others] = exact.length > 0 ? exact : tests;
  if (first === undefined) {
    throw new CliError(EXIT.refused, `No test has "${words}" in its name, class, file or suite.`);
  }
  if (others.length === 0) return first.id;
  const lines = [first, ...others].map((test) => `  ${test.id}  ${formatName(test)}`);
  const more = tests.length === MAX_LISTED ? '\n  and perhaps more' : '';
  throw new CliError(
    EXIT.refused,
    `Several tests have "${words}" in their names. Say which by its id:\n${lines.join('\n')}${more}`,
  );
}
