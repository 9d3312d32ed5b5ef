import type { Command } from 'commander';
import { addExamples } from '../core/arguments.ts';
import { defineCheck } from './check.ts';
import { defineSetup } from './setup.ts';

export function defineGithub(github: Command): void {
  addExamples(github, [
    'sluice github setup --org acme --url https://sluice.acme.dev',
    'sluice github check github.com/acme/app main',
  ]);
  defineSetup(github);
  defineCheck(github);
}
