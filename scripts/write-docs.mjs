// Writes what is generated from code: docs/configuration.md, the table of operations that the command line loads, and the
// variables in the schema of the chart.
// A test fails when they are outdated.
import { writeFileSync } from 'node:fs';
import { renderConfigurationPage } from '../src/config/variables.ts';
import { renderChartSchema } from './lib/chart-schema.mjs';
import { renderCliContract } from './lib/cli-contract.mjs';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), renderConfigurationPage());
writeFileSync(new URL('../src/cli/core/contract.json', import.meta.url), await renderCliContract());
writeFileSync(new URL('../deploy/helm/sluice/values.schema.json', import.meta.url), renderChartSchema());
