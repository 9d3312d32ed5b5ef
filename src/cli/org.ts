import type { Command } from 'commander';
import { addExamples } from './core/arguments.ts';
import { withContext } from './core/context.ts';
import { say } from './core/terminal.ts';

export function defineOrg(org: Command): void {
  addExamples(org, ['sluice org add acme']);
  const command = org
    .command('add')
    .description('Create an organization. Its first admin token goes to standard output, and is never shown again.')
    .argument('<slug>', 'Its name in addresses: lower-case letters, digits and inner hyphens.')
    .action(
      withContext(async (context, slug: string) => {
        const reply = await context.call('createOrganization', { slug });
        if (!context.isJson) say(`The organization ${reply.slug} is created. Its admin token, shown only now:`);
        context.show(reply, () => reply.token);
        if (!context.isJson) say(`Next: sluice login ${context.client.url}`);
      }),
    );
  addExamples(command, ['sluice org add acme', '(umask 077; sluice org add acme > acme-token)']);
}
