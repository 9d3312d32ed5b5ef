import { CommanderError } from 'commander';
import { CliError, EXIT } from './exit.ts';
import { createProgram } from './program.ts';
import { clean, say, write } from './terminal.ts';

/** Runs one command line and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  ignoreClosedPipes();
  const { program } = createProgram();
  try {
    await program.parseAsync(expandHelp(argv), { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has already said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CliError)) return reportBug(error);
    if (program.opts()['json'] && error.problem !== undefined) write(JSON.stringify(error.problem, null, 2));
    say(`sluice: ${error.message.split('\n').map(clean).join('\n')}`);
    return error.exitCode;
  }
}

/** `sluice help queue` as `sluice queue --help`: commander would explain the branch without loading it. */
function expandHelp(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}

/** `sluice queue list | head -1` ends when head has seen enough, and that is no error. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

function reportBug(error: unknown): number {
  say(`sluice: this is a bug in the command, please report it.\n${(error as Error)?.stack ?? String(error)}`);
  return EXIT.bug;
}
