import { row } from './core/command.ts';
import { openPage } from './core/web.ts';

// SPEC W51
export const OPEN = row({
  text: 'Open the dashboard in a browser, signed in with the token of this command. The link works once, for 10 minutes.',
  examples: ['sluice open', 'sluice open --url https://sluice.acme.dev'],
  run: async (context) => {
    const link = await context.call('createSignInLink', {});
    if (context.isJson) context.show(link, () => '');
    else openPage(link.url);
  },
});
