// Writes what is generated from code: docs/configuration.md, and the table of operations that the command line loads.
// A test fails when they are outdated.
import { writeFileSync } from 'node:fs';
import { renderConfigurationPage } from '../src/config/variables.ts';
import { renderCliContract } from './lib/cli-contract.mjs';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), renderConfigurationPage());
writeFileSync(new URL('../src/cli/core/contract.json', import.meta.url), await renderCliContract());
