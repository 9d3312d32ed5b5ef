import { parseArgs } from 'node:util';
import { CliError } from '../../src/cli/core/exit.ts';
import { makeDemoFolder } from '../../src/cli/demo/demo-folder.ts';
import { listenForInterruption } from '../../src/cli/demo/interruption.ts';
import { runCommand } from '../helpers/command.ts';
import { runGithubDemo } from './github-demo.ts';

const HELP = `npm run demo -- --github [options]      a queue on a GitHub of this machine, as people there see it

  --keep          let everything go on afterwards, to look further, until Ctrl-C
  --help          this

A GitHub that is made for tests is started, connected with the commands of docs/github.md, and used by people and a CI of
its own: real git, real tests, and no network. The exit code is 0 when everything ended as the story says, else 1.
`;

const INTERRUPTED = 130;

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

function parse(args: readonly string[]) {
  const options = { keep: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  return { isKept: values.keep, isHelp: values.help };
}

async function run({ isKept }: ReturnType<typeof parse>): Promise<number> {
  const folder = await makeDemoFolder(undefined);
  const { signal, stopListening } = listenForInterruption();
  try {
    return await runGithubDemo(folder, { isKept, signal });
  } catch (error) {
    if (signal.aborted) {
      process.stdout.write('\nStopped. Nothing of it is left running.\n');
      return INTERRUPTED;
    }
    if (!(error instanceof CliError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  } finally {
    await folder.remove();
    stopListening();
  }
}
