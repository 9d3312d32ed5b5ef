/** `npm run simulate -- policy ...`: simulates the effect of settings. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../lib/fault.ts';
import { showJson, showTable } from '../../policy/report.ts';
import { HELP, parseOptions, UsageError } from './options.ts';
import { Progress, simulate } from './simulate.ts';

/** Returns the exit code: 0, or 2 for a wrong usage. */
export async function run(args: readonly string[]): Promise<number> {
  const progress = new Progress(process.stderr);
  try {
    const options = parseOptions(args);
    if (options === 'help') {
      process.stdout.write(HELP);
      return 0;
    }
    const report = await simulate(options, progress);
    progress.end();
    process.stdout.write(options.isJson ? showJson(report) : showTable(report));
    return 0;
  } catch (error) {
    progress.end();
    if (!(error instanceof UsageError || error instanceof Fault)) throw error;
    process.stderr.write(`${error instanceof Fault ? error.detail : error.message}\nSee --help.\n`);
    return 2;
  }
}

const [, started = ''] = process.argv;
if (started !== '' && realpathSync(started) === fileURLToPath(import.meta.url)) {
  process.exitCode = await run(process.argv.slice(2));
}
