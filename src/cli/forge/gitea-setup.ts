import type { Command } from 'commander';
import { addExamples } from '../core/arguments.ts';
import { usageError } from '../core/exit.ts';
import type { GiteaSetupOptions, RepositoryName } from './run-gitea-setup.ts';

export function defineGiteaSetup(command: Command): void {
  command
    .description(
      'Connect a Gitea or Forgejo: keep the token of an account that Sluice acts as in the data folder of the server, and set up repositories. Run it on the machine of the server. --url (or SLUICE_URL) is the address under which Gitea reaches the server.',
    )
    .argument('<address>', 'The address of the Gitea, such as https://git.acme.dev')
    .option(
      '--gitea-token-file <file>',
      'A file with the access token of the account; - is standard input. Its scopes: repository and issue (read and write), user (read). Default: SLUICE_GITEA_TOKEN.',
    )
    .option(
      '--repo <owner/name>',
      'Set up this repository too: settings, webhook, label. May be repeated. The account must be its administrator.',
      (text: string, others: readonly RepositoryName[]) => [...others, parseName(text)],
      [] as readonly RepositoryName[],
    )
    .option('--branch <branch>', 'The target branch of the queue. Default: the default branch of the repository.')
    .option('--label <label>', 'The label that submits a pull request.', 'trunk-merge-queue-submit')
    .option('--yes', 'Do everything without asking.')
    .option('--replace', 'Replace the token of the existing connection to this host.')
    .action(async (address: string, _options: unknown, self: Command) => {
      // Other commands do not load the client of a forge.
      const { runGiteaSetup } = await import('./run-gitea-setup.ts');
      await runGiteaSetup(address, self.optsWithGlobals<GiteaSetupOptions>());
    });
  addExamples(command, [
    'sluice forge setup gitea https://git.acme.dev --gitea-token-file token.txt --repo acme/app --url https://sluice.acme.dev',
    'sluice forge setup gitea https://git.acme.dev --repo acme/other',
  ]);
}

function parseName(text: string): RepositoryName {
  const [owner, name, ...more] = text.split('/');
  if (!owner || !name || more.length > 0) throw usageError(`--repo is a repository such as acme/app, not "${text}".`);
  return { owner, name };
}
