import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { listSessions } from '../contract/access.ts';
import { addExamples } from './core/arguments.ts';
import { withContext } from './core/context.ts';
import { formatRows } from './core/table.ts';
import { formatTime } from './core/terminal.ts';

type SessionView = Static<typeof listSessions.reply>['sessions'][number];

export function defineSession(session: Command): void {
  addExamples(session, ['sluice session list']);
  const list = session
    .command('list')
    .description('List the people who are signed in to the dashboard.')
    .action(
      withContext(async (context) => {
        const reply = await context.call('listSessions', {});
        context.show(reply, () => formatSessions(reply.sessions));
      }),
    );
  addExamples(list, ['sluice session list', 'sluice session list --json']);
  const revoke = session
    .command('revoke')
    .description('End the session of a person at once, and the tokens that the person made for themselves.')
    .argument('<id>', 'The id of the session, as `sluice session list` shows it.')
    .action(
      withContext(async (context, id: string) => {
        const reply = await context.call('revokeSession', { id });
        context.show(reply, () =>
          reply.revokedTokens === 0
            ? 'The session has ended.'
            : `The session has ended, and ${reply.revokedTokens} tokens of the person with it.`,
        );
      }),
    );
  addExamples(revoke, ['sluice session revoke b1946ac92492d2347c6235b4d2611184f1c8b1d1f0c1c4ff7c3b3d2f8a1e6d70']);
}

function formatSessions(sessions: readonly SessionView[]): string {
  return formatRows(sessions, [
    { title: 'ID', keeps: true, cell: ({ id }) => id },
    { title: 'NAME', shrinks: true, cell: ({ name }) => name },
    { title: 'SIGNED IN', cell: ({ createdAt }) => formatTime(createdAt, '') },
    { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt, '') },
  ]);
}
