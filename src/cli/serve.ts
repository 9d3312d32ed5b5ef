import type { Command } from 'commander';
import { VARIABLES } from '../config/variables.ts';
import { addExamples } from './core/arguments.ts';

export function defineServe(command: Command): void {
  command
    .description(
      'Run the server until it is told to stop (SIGTERM, Ctrl-C). It is configured by environment variables, and by the files that "sluice forge setup" writes.',
    )
    // The command calls no server, so --url, --token-file and --json do not apply.
    .configureHelp({ minWidthToWrap: 20, showGlobalOptions: false })
    .addHelpText('after', () => `\n${describeVariables()}`)
    .action(async () => {
      const { serve } = await import('../main.ts');
      // Exits explicitly: an open handle of the stopped server must not keep the process alive.
      process.exit(await serve(process.env));
    });
  addExamples(command, [
    'sluice serve',
    'SLUICE_PORT=9090 SLUICE_DATA=/var/lib/sluice sluice serve',
    'SLUICE_DATABASE_URL=postgres://sluice@db/sluice SLUICE_HOST=0.0.0.0 sluice serve',
  ]);
}

function describeVariables(): string {
  const lines = Object.entries(VARIABLES).map(([name, variable]) => {
    const choice = 'values' in variable ? ` One of ${variable.values.join(', ')}.` : '';
    return `  ${name}\n      ${variable.text}${choice}\n      Default: ${variable.default}`;
  });
  return `Environment variables:\n${lines.join('\n')}`;
}
