import { CommanderError } from 'commander';
import { CliError, EXIT } from './core/exit.ts';
import { splitJsonFields } from './core/json-fields.ts';
import { clean, say, write } from './core/terminal.ts';
import { createProgram } from './program.ts';

export async function main(argv: readonly string[]): Promise<number> {
  handleOutputErrors();
  const { program } = createProgram();
  try {
    const names = program.commands.map((command) => command.name());
    await program.parseAsync(keepSign(splitJsonFields(expandHelp(argv, names))), { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has printed its message already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CliError)) return reportBug(error);
    if (program.opts()['json'] && error.problem !== undefined) write(JSON.stringify(error.problem, null, 2));
    say(`sluice: ${error.message.split('\n').map(clean).join('\n')}`);
    return error.exitCode;
  }
}

/** `sluice help queue` as `sluice queue --help`: commander would explain the branch without loading it. */
function expandHelp(argv: readonly string[], names: readonly string[]): readonly string[] {
  const [first, name, ...rest] = argv;
  if (first !== 'help' || name === undefined) return argv;
  if (!names.includes(name)) return name.startsWith('-') ? [...argv.slice(1), '--help'] : argv.slice(1);
  return rest.length === 0 ? [name, '--help'] : [name, 'help', ...rest];
}

/** Of two signs, commander drops the first: `ci exec` has a word before it. */
function keepSign(argv: readonly string[]): readonly string[] {
  const sign = argv.indexOf('--');
  const isExec = argv
    .slice(0, Math.max(sign, 0))
    .some((word, index, all) => word === 'exec' && all[index - 1] === 'ci');
  return isExec ? argv.toSpliced(sign, 0, '--') : argv;
}

/** `sluice queue list | head -1` closes the pipe early, which is no error; a full disk is. */
function handleOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (stream === process.stdout) {
        const reason = error.code === 'ENOSPC' ? 'no space is left there' : error.code;
        say(`sluice: The answer cannot be written to standard output: ${reason}.`);
      }
      process.exit(EXIT.unavailable);
    });
  }
}

function reportBug(error: unknown): number {
  say(`sluice: this is a bug in the command, please report it.\n${(error as Error)?.stack ?? String(error)}`);
  return EXIT.bug;
}
