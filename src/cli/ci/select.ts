import { FRAMEWORKS, type Framework, type Selection, selectTests } from '../../checks/selects/select-tests.ts';
import type { Context } from '../core/context.ts';
import { type CliError, usageError } from '../core/exit.ts';
import { clean, say } from '../core/terminal.ts';
import { type GivenRun, nameRun, type RunInfo } from './find-run.ts';

const TIMEOUT_MS = 10_000;

/** The word before the sign, and the command behind it. */
// SPEC W87
export function splitWords(words: readonly string[]) {
  const sign = words.indexOf('--');
  const [before, command] = [words.slice(0, Math.max(sign, 0)), words.slice(sign + 1)];
  const framework = FRAMEWORKS.find((name) => name === before[0]);
  if (before.length > (framework === undefined ? 0 : 1))
    throw usageError(`Before -- stands what runs the tests, one of ${FRAMEWORKS.join(', ')}.`);
  if (command.length === 0) throw usageError('Behind -- stands the command.');
  return { framework, command };
}

/** `none`: the run asks nothing of the check. Undefined: everything runs. */
// SPEC W87, W88
export async function askSelection(
  context: Context,
  named: GivenRun,
  { framework, check }: { readonly framework: Framework; readonly check: string | undefined },
): Promise<Selection | 'none' | undefined> {
  const question = await askQuestion(context, named);
  if (question === undefined) return undefined;
  const tests = question.filter((test) => check === undefined || test.check === check);
  if (tests.length === 0) return 'none';
  const selection = selectTests(framework, tests);
  say(`sluice: A probe of ${tests.length} tests that failed: this runs ${WHAT[selection.by]}.`);
  return selection;
}

const WHAT = {
  tests: 'those tests alone',
  files: 'their files alone',
  nothing: 'everything, because their names fit into no arguments',
};

/** Undefined: this is no probe, or that cannot be known. */
async function askQuestion(context: Context, named: GivenRun): Promise<RunInfo['question']> {
  try {
    const run = await nameRun(context, named);
    const info = await context.client.call('getTestRunInfo', run, { retries: 0, timeoutMs: TIMEOUT_MS });
    const tests = info?.question;
    // Something else may answer there.
    return Array.isArray(tests) && tests.length > 0 && tests.every(isTest) ? tests : undefined;
  } catch (error) {
    say(`sluice: ${clean((error as Partial<CliError>).message?.split('\n')[0] ?? '')} All tests run.`);
    return undefined;
  }
}

function isTest(test: unknown): boolean {
  const { name, ...others } = Object(test) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && ['file', 'classname', 'parent'].every((each) => isTextOrNone(others[each]));
}

function isTextOrNone(value: unknown): boolean {
  return typeof (value ?? '') === 'string';
}
