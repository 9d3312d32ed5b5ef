// The schema of the chart's values: deploy/helm/sluice/values.schema.json, in which `npm run docs` lists the variables.
import { readFileSync } from 'node:fs';
import { VARIABLES } from '../../src/config/variables.ts';

const file = new URL('../../deploy/helm/sluice/values.schema.json', import.meta.url);
/** The chart sets them, or PostgreSQL has no use for them. */
const LEFT_OUT = /^SLUICE_(?:HOST|PORT|DATA|SERVER_URL|RUNNER_PROTECTION|BACKUP_\w+)$/;

/** Secrets belong into the Secret, and not into values. */
export function renderChartSchema() {
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  const names = Object.entries(VARIABLES).flatMap(([name, { isSecret }]) => (isSecret === true ? [] : [name]));
  schema.properties.config.propertyNames.enum = names.filter((name) => !LEFT_OUT.test(name));
  return `${JSON.stringify(schema, null, 2)}\n`;
}
