import { formatRepo, parseRepo, REPO_TEXT } from './core/arguments.ts';
import { commandFor, type Row } from './core/command.ts';
import type { AnswerOf } from './core/operations.ts';
import { formatRows } from './core/table.ts';
import { formatSize, formatTime } from './core/terminal.ts';

const TAKES = {
  '[repo]': [REPO_TEXT, parseRepo],
  '--check <name>': 'Only those of this check.',
} as const;

type Caches = AnswerOf<'listCaches'>['caches'];

const list = commandFor('listCaches', {
  text: 'List what checks of the built-in runner find as earlier runs left it, most recently used first.',
  takes: TAKES,
  examples: ['sluice cache list', 'sluice cache list local/acme/app --check unit'],
  about: ({ caches, limitBytes }) => `${formatSize(sumOf(caches))} of ${formatSize(limitBytes)} (SLUICE_CACHE_BYTES).`,
  show: ({ caches, limitBytes }) => {
    if (limitBytes === 0)
      return 'This server keeps no caches: its checks run without a sandbox, or SLUICE_CACHE_BYTES is 0.';
    if (caches.length === 0)
      return 'No caches. A check with `cache` in .sluice.yaml leaves one when it passes on the head: sluice repo try';
    return formatRows(caches, [
      { title: 'REPOSITORY', cell: (one) => formatRepo(one.repo) },
      { title: 'BRANCH', cell: ({ targetBranch }) => targetBranch },
      { title: 'CHECK', shrinks: true, cell: ({ check }) => check },
      { title: 'KEY', cell: ({ key }) => key.slice(-12) },
      { title: 'SIZE', cell: ({ sizeBytes }) => formatSize(sizeBytes) },
      { title: 'STORED', cell: ({ createdAt }) => formatTime(createdAt) },
      { title: 'USED', cell: ({ usedAt }) => formatTime(usedAt) },
    ]);
  },
});

const clear = commandFor('clearCaches', {
  text: 'Delete caches of checks. The next full run on the head of the target branch leaves new ones.',
  takes: TAKES,
  examples: ['sluice cache clear local/acme/app --check unit', 'sluice cache clear'],
  show: ({ caches }) =>
    caches.length === 0 ? 'There was none to delete.' : `${caches.length} deleted (${formatSize(sumOf(caches))}).`,
});

function sumOf(caches: Caches): number {
  return caches.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

export const CACHE: Row = {
  examples: ['sluice cache list', 'sluice cache clear local/acme/app'],
  rows: { list, clear },
};
