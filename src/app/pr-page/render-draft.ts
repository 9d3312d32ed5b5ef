import type { CandidateEntry } from '../../forge/forge.ts';
import { code, joinLines, words } from './markdown.ts';

interface DraftSituation {
  readonly branch: string;
  readonly beneath: readonly CandidateEntry[];
  /** Empty for a test of the head of the target branch. */
  readonly members: readonly CandidateEntry[];
}

/** Enough for a list of some hundred pull requests. */
const MAX_LENGTH = 30_000;
const MAX_TITLE = 200;

// SPEC G6
export function renderDraft({ branch, beneath, members }: DraftSituation): string {
  const purpose = `CI tests here what Sluice is about to land on ${code(branch)}. Do not merge or close it: Sluice closes it.`;
  const tested = members.length === 0 ? [`Tested: the head of ${code(branch)} itself.`] : listOf('Tested:', members);
  const below = beneath.length === 0 ? [] : ['', ...listOf('On top of:', beneath)];
  return joinLines([purpose, '', ...tested, ...below], MAX_LENGTH, '- and more');
}

function listOf(heading: string, entries: readonly CandidateEntry[]): readonly string[] {
  return [
    heading,
    '',
    ...entries.map(({ prNumber, title }) => `- #${prNumber} ${words(title, { maxLength: MAX_TITLE })}`),
  ];
}
