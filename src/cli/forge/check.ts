import { SLUICE } from '../../lib/sluice-command.ts';
import { formatRepo, parseRepo, REPO_TEXT, type RepoRef } from '../core/arguments.ts';
import { row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import type { Place } from '../core/place.ts';
import { clean, paint, type Style, say } from '../core/terminal.ts';

/** The inspection makes a few dozen calls to the forge. */
export const INSPECTION_MS = 120_000;

// SPEC G97
export const check = row({
  text: 'Show what is missing before queues can work: permissions, rules of the branch, required checks on test branches, events. Without arguments: for every queue of a connected forge.',
  takes: {
    '[repo]': [REPO_TEXT, parseRepo],
    '[branch]': 'The target branch; it needs no queue yet. Default: every branch with a queue, or main.',
  },
  more: 'The exit code is 1 if something keeps a queue from working.',
  examples: ['sluice forge check github.com/acme/app main', 'sluice forge check', 'sluice forge check --json'],
  run: async (context, { repo, branch }) => {
    const results: Inspected[] = [];
    for (const place of await findPlaces(context, repo, branch)) {
      const { findings } = await context.call('inspectRepository', place, { timeoutMs: INSPECTION_MS });
      results.push({ ...place, findings });
    }
    context.show({ checks: results }, () => results.map(formatResult).join('\n\n'));
    for (const result of context.isJson ? [] : results) await sayNext(context, result);
    if (results.some(({ findings }) => countErrors(findings) > 0)) process.exitCode = EXIT.refused;
  },
});

async function findPlaces(
  context: Context,
  repo: RepoRef | undefined,
  branch: string | undefined,
): Promise<readonly Place[]> {
  if (repo !== undefined && branch !== undefined) return [{ repo, targetBranch: branch }];
  if (repo !== undefined) {
    const { queues } = await context.call('listQueues', { repo });
    return queues.length === 0
      ? [{ repo, targetBranch: 'main' }]
      : queues.map((queue) => ({ repo, targetBranch: queue.branch }));
  }
  const { repositories } = await context.call('listRepositories', {});
  const hosted = repositories.filter((each) => each.repo.host !== 'local');
  if (hosted.length === 0) {
    throw new CliError(
      EXIT.refused,
      `No repository of a forge is registered yet: ${SLUICE} repo add github.com/acme/app`,
    );
  }
  const places: Place[] = [];
  for (const each of hosted) places.push(...(await findPlaces(context, each.repo, undefined)));
  return places;
}

interface Inspected extends Place {
  readonly findings: readonly SetupFinding[];
}

async function sayNext(context: Context, { repo, targetBranch, findings }: Inspected): Promise<void> {
  const place = `${formatRepo(repo)} ${targetBranch}`;
  const { queues } = await context.call('listQueues', { repo });
  const isQueued = queues.some(({ branch }) => branch === targetBranch);
  if (countErrors(findings) > 0) say(`Next, when that is mended: ${SLUICE} forge check ${place}`);
  else say(isQueued ? `Next: ${SLUICE} pr submit ${place} NUMBER` : `Next: ${SLUICE} queue create ${place}`);
}

function formatResult({ repo, targetBranch, findings }: Inspected): string {
  const errors = countErrors(findings);
  const end =
    errors === 0
      ? 'Nothing keeps a queue from working.'
      : `${errors} of these ${errors === 1 ? 'keeps' : 'keep'} a queue from working.`;
  return `${paint('bold', `${formatRepo(repo)} ${targetBranch}`)}\n${formatFindings(findings)}\n${end}`;
}

type SetupFinding = AnswerOf<'inspectRepository'>['findings'][number];

const MARKS: Readonly<Record<SetupFinding['level'], readonly [Style, string]>> = {
  OK: ['green', 'ok     '],
  WARNING: ['yellow', 'warning'],
  ERROR: ['red', 'error  '],
};

const RANKS: Readonly<Record<SetupFinding['level'], number>> = { ERROR: 0, WARNING: 1, OK: 2 };

/** Most important first. */
export function formatFindings(findings: readonly SetupFinding[]): string {
  return findings
    .toSorted((a, b) => RANKS[a.level] - RANKS[b.level])
    .map(({ level, text }) => `  ${paint(...MARKS[level])}  ${clean(text)}`)
    .join('\n');
}

function countErrors(findings: readonly SetupFinding[]): number {
  return findings.filter(({ level }) => level === 'ERROR').length;
}
