// Writes the pages that are made from code: docs/configuration.md. A test fails when they are not up to date.
import { writeFileSync } from 'node:fs';
import { renderConfigurationPage } from '../src/config/variables.ts';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), renderConfigurationPage());
