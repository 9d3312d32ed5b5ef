import type { Command } from 'commander';
import { addExamples } from '../core/arguments.ts';
import { defineCheck } from './check.ts';
import { defineGiteaSetup } from './gitea-setup.ts';
import { defineGithubSetup } from './github-setup.ts';

export function defineForge(forge: Command): void {
  addExamples(forge, [
    'sluice forge setup github --org acme --url https://sluice.acme.dev',
    'sluice forge setup gitea https://git.acme.dev --gitea-token-file token.txt --repo acme/app',
    'sluice forge check git.acme.dev/acme/app main',
  ]);
  const setup = forge.command('setup').description('Connect a forge to the server of this machine.');
  addExamples(setup, [
    'sluice forge setup github --org acme --url https://sluice.acme.dev',
    'sluice forge setup gitea https://git.acme.dev --gitea-token-file token.txt --repo acme/app',
  ]);
  defineGithubSetup(setup.command('github'));
  defineGiteaSetup(setup.command('gitea'));
  defineCheck(forge.command('check'));
}

export function defineGithub(github: Command): void {
  addExamples(github, [
    'sluice github setup --org acme --url https://sluice.acme.dev',
    'sluice github check github.com/acme/app main',
  ]);
  defineGithubSetup(github.command('setup'));
  defineCheck(github.command('check'));
}
