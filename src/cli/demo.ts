import type { Command } from 'commander';
import type { DemoOptions } from '../../examples/demo/run-demo.ts';
import { addExamples } from './core/arguments.ts';

// SPEC W4, W13, W14
export function defineDemo(command: Command): void {
  command
    .description(
      'Make a small repository with ten pull requests, run a server for it, and show the queue at work: some land, some are removed, each with a reason. It ends with what that shows, and needs nothing but Node and git.',
    )
    .option('--folder <folder>', 'Put everything into this folder and keep it: an empty folder, or a new one.')
    .option('--keep', 'Leave the server running and everything in place, to look further.')
    .option('--github', 'On a GitHub of this machine, with people and a CI; it needs the packages for tests.')
    .option('--gitea', 'On a real Gitea, which is built from source once; that needs Go, gcc and ten minutes.')
    // The demo runs its own server, so --url, --token-file and --json do not apply.
    .configureHelp({ minWidthToWrap: 20, showGlobalOptions: false })
    .addHelpText(
      'after',
      '\nThe exit code is 0 when every pull request ended as the story says, else 1. "npm run demo" installs what is missing.',
    )
    .action(async (options: DemoOptions) => {
      const { runDemo } = await import('../../examples/demo/run-demo.ts');
      process.exitCode = await runDemo(options);
    });
  addExamples(command, [
    'sluice demo',
    'sluice demo --keep',
    'sluice demo --folder ./demo',
    'npm run demo -- --github',
    'npm run demo -- --gitea',
  ]);
}
