import type { Command } from 'commander';
import { present } from '../lib/present.ts';
import { addExamples, parseIntegerWithin } from './core/arguments.ts';
import { withContext } from './core/context.ts';
import { say } from './core/terminal.ts';

export function defineOrg(org: Command): void {
  addExamples(org, ['sluice org add acme', 'sluice org set --token-days 30']);
  defineSet(org);
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

function defineSet(org: Command): void {
  const command = org
    .command('set')
    .description('Change the organization of the token, or show it.')
    .option(
      '--token-days <days>',
      'How long tokens that people make for themselves last at most, 1 to 3650 days. Default: 90.',
      parseIntegerWithin(1, 3650),
    )
    .action(
      withContext(async (context, { tokenDays }: { readonly tokenDays?: number }) => {
        const reply = await context.call('updateOrganization', present({ tokenDays }));
        context.show(reply, () => `${reply.slug}: tokens of people last ${reply.tokenDays} days at most.`);
      }),
    );
  addExamples(command, ['sluice org set --token-days 30', 'sluice org set']);
}
