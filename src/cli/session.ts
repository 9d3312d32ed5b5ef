import { commandFor, type Row } from './core/command.ts';
import { formatRows } from './core/table.ts';
import { formatTime } from './core/terminal.ts';

const list = commandFor('listSessions', {
  text: 'List the people who are signed in to the dashboard.',
  examples: ['sluice session list', 'sluice session list --json'],
  show: ({ sessions }) =>
    formatRows(sessions, [
      { title: 'ID', keeps: true, cell: ({ id }) => id },
      { title: 'NAME', shrinks: true, cell: ({ name }) => name },
      { title: 'SIGNED IN', cell: ({ createdAt }) => formatTime(createdAt, '') },
      { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt, '') },
    ]),
});

const revoke = commandFor('revokeSession', {
  text: 'End the session of a person at once, and the tokens that the person made for themselves.',
  takes: { '<id>': 'The id of the session, as `sluice session list` shows it.' },
  examples: ['sluice session revoke b1946ac92492d2347c6235b4d2611184f1c8b1d1f0c1c4ff7c3b3d2f8a1e6d70'],
  show: ({ revokedTokens }) =>
    revokedTokens === 0
      ? 'The session has ended.'
      : `The session has ended, and ${revokedTokens} tokens of the person with it.`,
});

export const SESSION: Row = {
  examples: ['sluice session list'],
  rows: { list, revoke },
};
