import { VARIABLES, type Variable } from './variables.ts';

/** docs/configuration.md, made from the table that the server reads. */
export function renderConfigurationPage(): string {
  const rows = Object.entries<Variable>(VARIABLES).map(([name, variable]) => {
    const bounds = variable.kind === 'integer' ? ` (${variable.min} to ${variable.max})` : '';
    const values = variable.values === undefined ? '' : ` (${variable.values.join(', ')})`;
    return `| \`${name}\` | ${variable.default} | ${variable.text}${bounds}${values} |`;
  });
  return `${[
    '# Configuration',
    '',
    'The server is configured by its environment. `sluice serve --help` shows this table too. Connections to GitHub may',
    'also be files in the data folder, which `sluice github setup` writes: see [github.md](github.md).',
    'A variable that is set to nothing counts as unset; all problems are reported at once, and the server does not start.',
    '',
    '| variable | default | is |',
    '|---|---|---|',
    ...rows,
    '',
    'The command line reads `SLUICE_URL` (where the server is) and `SLUICE_TOKEN`; see [cli.md](cli.md).',
  ].join('\n')}\n`;
}
