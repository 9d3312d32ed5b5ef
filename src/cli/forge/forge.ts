import type { Row } from '../core/command.ts';
import { check } from './check.ts';
import { giteaSetup } from './gitea-setup.ts';
import { githubSetup } from './github-setup.ts';
import { gitlabSetup } from './gitlab-setup.ts';

const SETUPS = [
  'sluice forge setup github --org acme --url https://sluice.acme.dev',
  'sluice forge setup gitea https://git.acme.dev --gitea-token-file token.txt --repo acme/app',
  'sluice forge setup gitlab https://gitlab.acme.dev --gitlab-token-file token.txt --repo acme/tools/app',
];

const setup: Row = {
  text: 'Connect a forge to the server of this machine.',
  examples: SETUPS,
  rows: { github: githubSetup, gitea: giteaSetup, gitlab: gitlabSetup },
};

export const FORGE: Row = {
  examples: [...SETUPS, 'sluice forge check git.acme.dev/acme/app main'],
  rows: { setup, check },
};

export const GITHUB: Row = {
  examples: [
    'sluice github setup --org acme --url https://sluice.acme.dev',
    'sluice github check github.com/acme/app main',
  ],
  rows: { setup: githubSetup, check },
};
