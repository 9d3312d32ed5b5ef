import { formatRepo, parseRepo, REPO_TEXT } from './core/arguments.ts';
import { commandFor, type Row } from './core/command.ts';
import { formatRows } from './core/table.ts';
import { clean, formatTime } from './core/terminal.ts';
import { askSecret } from './login.ts';

const TAKES = { '<repo>': [REPO_TEXT, parseRepo], '<name>': 'The name of the variable.' } as const;

const set = commandFor(
  'setSecret',
  {
    text: 'Set a variable that checks of .sluice.yaml get. Its value is asked for on the terminal, or read from standard input.',
    takes: TAKES,
    examples: ['sluice secret set local/acme/app NPM_TOKEN', 'sluice secret set local/acme/app NPM_TOKEN < token.txt'],
    show: (_reply, { name }) => `${clean(name)} is set. Checks that name it in "secrets" get it from now on.`,
  },
  async ({ repo, name }) => ({
    ...{ repo, name },
    value: (await askSecret(`Value of ${clean(name)}: `)).replace(/\r?\n$/, ''),
  }),
);

const list = commandFor('listSecrets', {
  text: 'List the secrets of a repository, without their values.',
  takes: { '<repo>': [REPO_TEXT, parseRepo] },
  examples: ['sluice secret list local/acme/app'],
  show: ({ secrets }, { repo }) =>
    secrets.length === 0
      ? `No secrets yet. Set one: sluice secret set ${formatRepo(repo)} NAME`
      : formatRows(secrets, [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'SET BY', shrinks: true, cell: ({ setBy }) => setBy },
          { title: 'SET', cell: ({ setAt }) => formatTime(setAt) },
        ]),
});

const remove = commandFor('removeSecret', {
  text: 'Remove a secret.',
  takes: TAKES,
  examples: ['sluice secret remove local/acme/app NPM_TOKEN'],
  show: (_reply, { name }) => `${clean(name)} is removed.`,
});

export const SECRET: Row = {
  examples: ['sluice secret set local/acme/app NPM_TOKEN', 'sluice secret list local/acme/app'],
  rows: { set, list, remove },
};
