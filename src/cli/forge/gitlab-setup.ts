import { local } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import type { RepositoryName } from './run-gitea-setup.ts';

export const gitlabSetup = local({
  text: 'Connect a GitLab (preview): keep a project or group access token and a deploy key in the data folder of the server, and set up projects. Run it on the machine of the server. --url (or SLUICE_URL) is the address under which GitLab reaches the server.',
  takes: {
    '<address>': 'The address of the GitLab, such as https://gitlab.acme.dev',
    '--gitlab-token-file <file>':
      'A file with the access token; - is standard input. Its role: Maintainer. Its scopes: api and read_repository. Default: SLUICE_GITLAB_TOKEN.',
    '--repo <group/name>': {
      text: 'Set up this project too: deploy key, protected branch, webhook, label. May be repeated.',
      parse: (text: string, others: readonly RepositoryName[]) => [...others, parseName(text)],
      initial: [],
    },
    '--branch <branch>': 'The target branch of the queue. Default: the default branch of the project.',
    '--label <label>': { text: 'The label that submits a merge request.', initial: 'trunk-merge-queue-submit' },
    '--yes': 'Do everything without asking.',
    '--replace': 'Replace the token of the existing connection to this host.',
  },
  examples: [
    'sluice forge setup gitlab https://gitlab.acme.dev --gitlab-token-file token.txt --repo acme/tools/app --url https://sluice.acme.dev',
    'sluice forge setup gitlab https://gitlab.acme.dev --repo acme/other',
  ],
  start: async ({ address, ...options }, globals) => {
    // Other commands do not load the client of a forge.
    const { runGitlabSetup } = await import('./run-gitlab-setup.ts');
    await runGitlabSetup(address, { ...globals, ...options });
  },
});

function parseName(text: string): RepositoryName {
  const [, owner, name] = /^([^/].*)\/([^/]+)$/.exec(text) ?? [];
  if (!owner || !name) throw usageError(`--repo is a project such as acme/tools/app, not "${text}".`);
  return { owner, name };
}
