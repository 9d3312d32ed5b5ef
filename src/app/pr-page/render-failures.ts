import type { FailedCheck, FailedTest } from '../../words/explanation.ts';
import { latelyText, VERBS } from '../../words/tests.ts';
import { code, joinLines, link, words } from './markdown.ts';
import type { PageFacts } from './page-facts.ts';

const MAX_CHECKS = 20;
const MAX_TESTS = 20;
/** Half of a comment, so that the rest fits too. */
const MAX_LENGTH = 30_000;

const TEST_KINDS: { readonly [Kind in FailedTest['kind']]: string } = {
  failed: '',
  flaky: ' (known to be flaky)',
  broken: ' (known to be broken)',
  quarantined: ' (quarantined)',
};

/** The failed checks, each with its link and its failed tests. */
export function renderFailures({ entry, run }: PageFacts): string[] {
  if (run === undefined || run.failed.length === 0 || entry.state === 'NOT_READY' || entry.state === 'MERGED')
    return [];
  const renderCheck = (check: FailedCheck) => renderOne(check, run.branch);
  const lines = joinLines(run.failed.slice(0, MAX_CHECKS).flatMap(renderCheck), MAX_LENGTH, '- and more');
  const more = run.failed.length - MAX_CHECKS;
  return ['', lines, ...(more > 0 ? [`- ${more} more checks failed`] : [])];
}

function renderOne(check: FailedCheck, branch: string): string[] {
  const { name, conclusion, url, summary, isWaived } = check;
  const what = conclusion === undefined ? renderSilence(check, branch) : VERBS[conclusion];
  const excuse = isWaived ? ', only in quarantined tests: it counts as passed' : '';
  const said = summary === undefined || summary.trim() === '' ? '' : `: ${words(summary, { maxLength: 300 })}`;
  return [`- ${link(code(name), url)} ${what}${excuse}${said}`, ...renderTests(check)];
}

/** The usual cause is that CI is not configured for test branches. */
function renderSilence({ hasBegun }: FailedCheck, branch: string): string {
  const [prefix = ''] = branch.split('/');
  return hasBegun ? 'did not finish in time' : `never reported. Does CI run for branches ${code(`${prefix}/**`)}?`;
}

function renderTests({ tests, failing }: FailedCheck): string[] {
  const shown = tests.slice(0, MAX_TESTS);
  const more = Math.max(failing, tests.length) - shown.length;
  const lines = shown.map(
    ({ name, kind, url, lately }) => `  - ${link(code(name), url)}${TEST_KINDS[kind]}${renderLately(lately)}`,
  );
  if (more <= 0) return lines;
  return [...lines, `  - ${more} more ${more === 1 ? 'test' : 'tests'} failed`];
}

function renderLately(lately: FailedTest['lately']): string {
  return lately === undefined ? '' : `. ${latelyText(lately)}`;
}
