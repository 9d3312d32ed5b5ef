import { collect } from '../core/arguments.ts';
import { type Given, row } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import { ENTRY } from '../core/place.ts';
import { readInput } from '../core/read-input.ts';
import { formatFacts, formatRows } from '../core/table.ts';
import { clean } from '../core/terminal.ts';
import { formatOutcome } from './format-entry.ts';

const OPTIONS = {
  '--target <target>': ['A target; repeat it for several.', collect],
  '--targets-file <file>': 'A file with one target a line; - is standard input.',
  '--all': 'It impacts everything.',
  '--none': 'It impacts nothing.',
} as const;

export const targets = row({
  on: ENTRY,
  text: 'Set the targets that a pull request impacts, for a parallel queue. Also before it is submitted. Or explain them.',
  takes: {
    ...OPTIONS,
    '--explain': 'Set nothing: show the targets that count, and which changed file gives which.',
    '--sha <commit>': 'The head commit that the targets were computed for. Default: the present head.',
  },
  examples: [
    'sluice pr targets local/acme/app main 7 --target //app:lib --target //app:server',
    'git diff --name-only main... | cut -d/ -f1 | sort -u | sluice pr targets local/acme/app main 7 --targets-file -',
    'sluice pr targets local/acme/app main 7 --all',
    'sluice pr targets --explain 7',
  ],
  run: async (context, { repo, targetBranch, pr: { number }, sha, explain, ...options }) => {
    if (explain) {
      if (sha !== undefined || givenOf(options).length > 0) throw usageError('Say --explain alone: it sets nothing.');
      const explained = await context.act('explainImpactedTargets', { repo, targetBranch, pr: { number } });
      context.show(explained, () => formatExplained(explained));
      return;
    }
    const impactedTargets = readTargets(options);
    const pr = { number, ...(sha === undefined ? {} : { sha }) };
    const record = await context.act('setImpactedTargets', { repo, targetBranch, pr, impactedTargets });
    context.show(record, () => `${describeTargets(impactedTargets)} ${formatOutcome(record)}`);
  },
});

function givenOf({ target, targetsFile, all, none }: Given<typeof OPTIONS>): readonly unknown[] {
  return [target, targetsFile, all, none].filter((option) => option !== undefined);
}

function readTargets(options: Given<typeof OPTIONS>): string[] | 'ALL' {
  const { target, targetsFile, all, none } = options;
  if (givenOf(options).length !== 1) throw usageError('Say exactly one of --target, --targets-file, --all and --none.');
  if (all) return 'ALL';
  if (none) return [];
  if (target !== undefined) return [...target];
  return readTargetsFile(targetsFile as string);
}

/** An empty file comes from a failed tool more often than from no impact, so it needs an explicit option. */
function readTargetsFile(file: string): string[] {
  const { name, text } = readInput(file);
  const lines = text.split('\n').map((line) => line.trim());
  const targets = lines.filter((line) => line !== '');
  if (targets.length > 0) return targets;
  throw usageError(
    `${name} names no target. If the pull request impacts nothing, say --none; if it may impact anything, say --all.`,
  );
}

function describeTargets(targets: readonly string[] | 'ALL'): string {
  if (targets === 'ALL') return 'It impacts everything.';
  return targets.length === 1 ? '1 target is set.' : `${targets.length} targets are set.`;
}

/** Enough for a line of names. */
const SHOWN_NAMES = 20;

// SPEC T18
function formatExplained(explained: AnswerOf<'explainImpactedTargets'>): string {
  const { prNumber, prSha, source, impactsAll, targets, count, text, fileCount, files, dependents } = explained;
  const counted = impactsAll ? 'ALL' : count === 0 ? 'none' : namesIn(targets, count);
  const parts = [
    formatFacts([
      ['Pull request', `#${prNumber} at ${prSha.slice(0, 12)}`],
      ['Targets', source === 'NONE' ? undefined : clean(counted)],
      ['Why', clean(text)],
    ]),
  ];
  if (files.length > 0) {
    parts.push(
      formatRows(files, [
        { title: 'FILE', shrinks: true, cell: ({ path }) => path },
        { title: 'TARGETS', shrinks: true, cell: (file) => (file.impactsAll ? 'ALL' : namesIn(file.targets)) },
        { title: 'WHY', wraps: true, cell: (file) => file.text },
      ]),
    );
  }
  if (fileCount > files.length && files.length > 0) parts.push(`and ${fileCount - files.length} more files\n`);
  if (dependents.length > 0) {
    parts.push(
      formatRows(dependents, [
        { title: 'PACKAGE', shrinks: true, cell: ({ target }) => target },
        { title: 'NEEDED BY', wraps: true, cell: ({ names }) => namesIn(names) },
      ]),
    );
  }
  return parts.join('\n');
}

function namesIn(names: readonly string[], count = names.length): string {
  const left = count - Math.min(SHOWN_NAMES, names.length);
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
