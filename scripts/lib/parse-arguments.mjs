import { parseArgs } from 'node:util';

/**
 * The options of a script of this project. `--help` prints the usage and ends the process, and so does a mistake, with
 * exit code 2.
 *
 * @param {import('node:util').ParseArgsConfig['options']} options
 * @param {string} usage
 */
export function parseArguments(options, usage) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } });
    if (!values.help) return values;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}
