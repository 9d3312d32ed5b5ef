import { local } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import type { RepositoryName } from './run-gitea-setup.ts';

export const giteaSetup = local({
  text: 'Connect a Gitea or Forgejo: keep the token of an account that Sluice acts as in the data folder of the server, and set up repositories. Run it on the machine of the server. --url (or SLUICE_URL) is the address under which Gitea reaches the server.',
  takes: {
    '<address>': 'The address of the Gitea, such as https://git.acme.dev',
    '--gitea-token-file <file>':
      'A file with the access token of the account; - is standard input. Its scopes: repository and issue (read and write), user (read). Default: SLUICE_GITEA_TOKEN.',
    '--repo <owner/name>': {
      text: 'Set up this repository too: settings, webhook, label. May be repeated. The account must be its administrator.',
      parse: (text: string, others: readonly RepositoryName[]) => [...others, parseName(text)],
      initial: [],
    },
    '--branch <branch>': 'The target branch of the queue. Default: the default branch of the repository.',
    '--label <label>': { text: 'The label that submits a pull request.', initial: 'trunk-merge-queue-submit' },
    '--yes': 'Do everything without asking.',
    '--replace': 'Replace the token of the existing connection to this host.',
  },
  examples: [
    'sluice forge setup gitea https://git.acme.dev --gitea-token-file token.txt --repo acme/app --url https://sluice.acme.dev',
    'sluice forge setup gitea https://git.acme.dev --repo acme/other',
  ],
  start: async ({ address, ...options }, globals) => {
    // Other commands do not load the client of a forge.
    const { runGiteaSetup } = await import('./run-gitea-setup.ts');
    await runGiteaSetup(address, { ...globals, ...options });
  },
});

function parseName(text: string): RepositoryName {
  const [owner, name, ...more] = text.split('/');
  if (!owner || !name || more.length > 0) throw usageError(`--repo is a repository such as acme/app, not "${text}".`);
  return { owner, name };
}
