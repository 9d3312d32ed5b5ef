import { local } from './core/command.ts';

// SPEC W4, W13, W14
export const DEMO = local({
  text: 'Make a small repository with ten pull requests, run a server for it, and show the queue at work: some land, some are removed, each with a reason. It ends with what that shows, and needs nothing but Node and git.',
  isAlone: true,
  takes: {
    '--folder <folder>': 'Put everything into this folder and keep it: an empty folder, or a new one.',
    '--keep': 'Leave the server running and everything in place, to look further.',
    '--github': 'On a GitHub of this machine, with people and a CI; it needs the packages for tests.',
    '--gitea': 'On a real Gitea, which is built from source once; that needs Go, gcc and ten minutes.',
  },
  more: 'The exit code is 0 when every pull request ended as the story says, else 1. "npm run demo" installs what is missing.',
  examples: [
    'sluice demo',
    'sluice demo --keep',
    'sluice demo --folder ./demo',
    'npm run demo -- --github',
    'npm run demo -- --gitea',
  ],
  start: async (options) => {
    const { runDemo } = await import('../../examples/demo/run-demo.ts');
    process.exitCode = await runDemo(options);
  },
});
