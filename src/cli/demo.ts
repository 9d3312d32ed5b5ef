import type { Command } from 'commander';
import { addExamples } from './core/arguments.ts';
import type { DemoOptions } from './demo/run-demo.ts';

export function defineDemo(command: Command): void {
  command
    .description(
      'Make a small repository with ten pull requests, run a server for it, and show the queue at work: some land, some are removed, each with a reason. It ends with what that shows, and needs nothing but Node and git.',
    )
    .option('--folder <folder>', 'Where to put everything, to be kept: an empty folder, or a new one.')
    .option('--keep', 'Leave the server running and everything in place, to look further.')
    // It runs a server of its own: --url, --token-file and --json mean nothing here.
    .configureHelp({ minWidthToWrap: 20, showGlobalOptions: false })
    .addHelpText(
      'after',
      '\nThe exit code is 0 when every pull request ended as the story says, else 1. In a clone, "npm run demo -- --github" shows a queue on a GitHub of this machine.',
    )
    .action(async (options: DemoOptions) => {
      const { runDemo } = await import('./demo/run-demo.ts');
      process.exitCode = await runDemo(options);
    });
  addExamples(command, ['sluice demo', 'sluice demo --keep', 'sluice demo --folder ./demo']);
}
