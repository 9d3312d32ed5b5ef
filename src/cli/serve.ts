import { VARIABLES } from '../config/variables.ts';
import { local } from './core/command.ts';

export const SERVE = local({
  text: 'Run the server until it is told to stop (SIGTERM, Ctrl-C). It is configured by environment variables, and by the files that "sluice forge setup" writes.',
  isAlone: true,
  more: describeVariables,
  examples: [
    'sluice serve',
    'SLUICE_PORT=9090 SLUICE_DATA=/var/lib/sluice sluice serve',
    'SLUICE_DATABASE_URL=postgres://sluice@db/sluice SLUICE_HOST=0.0.0.0 sluice serve',
  ],
  start: async () => {
    const { serve } = await import('../main.ts');
    // Exits explicitly: an open handle of the stopped server must not keep the process alive.
    process.exit(await serve(process.env));
  },
});

function describeVariables(): string {
  const lines = Object.entries(VARIABLES).map(([name, variable]) => {
    const choice = 'values' in variable ? ` One of ${variable.values.join(', ')}.` : '';
    return `  ${name}\n      ${variable.text}${choice}\n      Default: ${variable.default}`;
  });
  return `Environment variables:\n${lines.join('\n')}`;
}
