import type { Command } from 'commander';
import { addExamples } from './core/arguments.ts';
import { type Context, withContext } from './core/context.ts';
import { openPage } from './core/web.ts';

export function defineOpen(command: Command): void {
  command
    .description(
      'Open the dashboard in a browser, signed in with the token of this command. The link works once, for 10 minutes.',
    )
    .action(withContext(open));
  addExamples(command, ['sluice open', 'sluice open --url https://sluice.acme.dev']);
}

// SPEC W51
async function open(context: Context): Promise<void> {
  const link = await context.call('createSignInLink', {});
  if (context.isJson) context.show(link, () => '');
  else openPage(link.url);
}
