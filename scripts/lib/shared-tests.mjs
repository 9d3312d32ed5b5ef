// The test file that is all the test files that share one process (see scripts/test.mjs).
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of (process.env.SLUICE_TEST_FILES ?? '').split('\n').filter(Boolean)) {
  await import(pathToFileURL(resolve(file)).href);
}
