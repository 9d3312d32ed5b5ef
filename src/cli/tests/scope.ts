import type { Command } from 'commander';
import { parseIntegerWithin, parseRepo, type RepoRef } from '../core/arguments.ts';
import { chooseOrg, chooseRepo, ORG_TEXT, REPO_OPTION_TEXT } from '../core/checkout.ts';

/** Options that every command about tests has. */
export interface ScopeOptions {
  readonly org?: string;
  readonly repo?: RepoRef;
}

/** Whose tests they are, as the API wants it. */
export interface TestScope {
  readonly repo: RepoRef;
  readonly org_url_slug: string;
}

export function addScopeOptions(command: Command): Command {
  return command.option('--repo <repo>', REPO_OPTION_TEXT, parseRepo).option('--org <slug>', ORG_TEXT);
}

export async function chooseScope({ org, repo }: ScopeOptions): Promise<TestScope> {
  return { repo: await chooseRepo(repo), org_url_slug: chooseOrg(org) };
}

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'How many at most, 1 to 100.', parseIntegerWithin(1, 100))
    .option('--cursor <cursor>', 'Go on where the page before ended.');
}

export function pageQuery({ limit, cursor }: PageOptions) {
  return {
    ...(limit === undefined ? {} : { page_size: limit }),
    ...(cursor === undefined ? {} : { page_token: cursor }),
  };
}

/** How to go on, where there is more. */
export function formatMore({ next_page_token }: { readonly next_page_token: string }): string {
  return next_page_token === '' ? '' : `There are more: add --cursor ${next_page_token}\n`;
}
