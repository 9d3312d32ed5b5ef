import type { Command } from 'commander';
import { VARIABLES } from '../config/variables.ts';
import { addExamples } from './core/arguments.ts';

export function defineServe(command: Command): void {
  command
    .description(
      'Run the server until it is told to stop (SIGTERM, Ctrl-C). It is configured by environment variables, and by the files that "sluice github setup" writes.',
    )
    // It talks to no server: --url, --token-file and --json mean nothing here.
    .configureHelp({ minWidthToWrap: 20, showGlobalOptions: false })
    .addHelpText('after', () => `\n${describeVariables()}`)
    .action(async () => {
      const { serve } = await import('../main.ts');
      // Explicitly: whatever a stopped server may have left behind must not keep the process.
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
