import { collect } from './core/arguments.ts';
import { type Given, row } from './core/command.ts';
import { usageError } from './core/exit.ts';
import { ENTRY } from './core/place.ts';
import { readInput } from './core/read-input.ts';
import { formatOutcome } from './format-entry.ts';

const OPTIONS = {
  '--target <target>': ['A target; repeat it for several.', collect],
  '--targets-file <file>': 'A file with one target a line; - is standard input.',
  '--all': 'It impacts everything.',
  '--none': 'It impacts nothing.',
} as const;

export const targets = row({
  on: ENTRY,
  text: 'Set the targets that a pull request impacts, for a parallel queue. Also before it is submitted.',
  takes: {
    ...OPTIONS,
    '--sha <commit>': 'The head commit that the targets were computed for. Default: the present head.',
  },
  examples: [
    'sluice pr targets local/acme/app main 7 --target //app:lib --target //app:server',
    'git diff --name-only main... | cut -d/ -f1 | sort -u | sluice pr targets local/acme/app main 7 --targets-file -',
    'sluice pr targets local/acme/app main 7 --all',
  ],
  run: async (context, { repo, targetBranch, pr: { number }, sha, ...options }) => {
    const impactedTargets = readTargets(options);
    const pr = { number, ...(sha === undefined ? {} : { sha }) };
    const record = await context.act('setImpactedTargets', { repo, targetBranch, pr, impactedTargets });
    context.show(record, () => `${describeTargets(impactedTargets)} ${formatOutcome(record)}`);
  },
});

function readTargets({ target, targetsFile, all, none }: Given<typeof OPTIONS>): string[] | 'ALL' {
  const given = [target, targetsFile, all, none].filter((option) => option !== undefined);
  if (given.length !== 1) throw usageError('Say exactly one of --target, --targets-file, --all and --none.');
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
