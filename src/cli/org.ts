import { parseIntegerWithin } from './core/arguments.ts';
import { commandFor, type Row } from './core/command.ts';

const set = commandFor('updateOrganization', {
  name: 'set',
  text: 'Change the organization of the token, or show it.',
  takes: {
    '--token-days <days>': [
      'How long tokens that people make for themselves last at most, 1 to 3650 days. Default: 90.',
      parseIntegerWithin(1, 3650),
    ],
  },
  examples: ['sluice org set --token-days 30', 'sluice org set'],
  show: ({ slug, tokenDays }) => `${slug}: tokens of people last ${tokenDays} days at most.`,
});

const add = commandFor('createOrganization', {
  name: 'add',
  text: 'Create an organization. Its first admin token goes to standard output, and is never shown again.',
  takes: { '<slug>': 'Its name in addresses: lower-case letters, digits and inner hyphens.' },
  examples: ['sluice org add acme', '(umask 077; sluice org add acme > acme-token)'],
  about: ({ slug }) => `The organization ${slug} is created. Its admin token, shown only now:`,
  show: ({ token }) => token,
  next: (_reply, { client }) => `sluice login ${client.url}`,
});

export const ORG: Row = {
  examples: ['sluice org add acme', 'sluice org set --token-days 30'],
  rows: [set, add],
};
