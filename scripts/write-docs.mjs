// Writes the pages that are generated from code: docs/configuration.md. A test fails when they are outdated.
import { writeFileSync } from 'node:fs';
import { renderConfigurationPage } from '../src/config/variables.ts';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), renderConfigurationPage());
