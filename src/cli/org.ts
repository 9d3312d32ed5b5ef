import { commandFor, type Row } from './core/command.ts';

const add = commandFor('createOrganization', {
  text: 'Create an organization. Its first admin token goes to standard output, and is never shown again.',
  takes: { '<slug>': 'Its name in addresses: lower-case letters, digits and inner hyphens.' },
  examples: ['sluice org add acme', '(umask 077; sluice org add acme > acme-token)'],
  about: ({ slug }) => `The organization ${slug} is created. Its admin token, shown only now:`,
  show: ({ token }) => token,
  next: (_reply, { client }) => `sluice login ${client.url}`,
});

export const ORG: Row = { examples: ['sluice org add acme'], rows: { add } };
