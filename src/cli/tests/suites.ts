import { ask } from '../core/confirm.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { clean } from '../core/terminal.ts';
import type { TestScope } from './scope.ts';

type TestRef = TestScope & { readonly test_id: string };

/** The suites to quarantine a test in. `choose` is called if there are several. */
// SPEC W70
export async function findSuites(
  context: Context,
  test: TestRef,
  choose: (suites: readonly string[], list: string) => Promise<readonly string[]>,
): Promise<{ readonly suites?: string[] }> {
  const { suites } = (await context.call('getTestDetails', test)).test;
  if (suites.length === 0) return {};
  const lines = suites.map((suite, index) => `  ${index + 1}  ${clean(suite)}\n`);
  const list = `Its id stands for tests of one name in ${suites.length} suites:\n${lines.join('')}`;
  return { suites: suites.length === 1 ? suites : [...(await choose(suites, list))] };
}

export async function askForSuites(suites: readonly string[], list: string): Promise<readonly string[]> {
  const answer = await ask(`${list}Where should it be quarantined? Type numbers such as 1 2, or all: `);
  if (answer === undefined) throw usageError(`${list}Say --suite '...' for each that is meant, or --all-suites.`);
  if (answer === 'all') return suites;
  const chosen = answer.split(/[\s,]+/).map((word) => suites[Number(word) - 1]);
  if (chosen.includes(undefined)) throw new CliError(EXIT.refused, 'Nothing was changed.');
  return chosen as string[];
}
