// `npm run test:gitea`: runs the tests of the Gitea adapter on a real Gitea, which it builds when there is none yet.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureGitea, GiteaError } from './lib/build-gitea.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode24, projectRoot } from './lib/node24.mjs';
import { exitCodeOf, runChild } from './lib/run-child.mjs';

await ensureInstalled({ dev: true });
process.chdir(projectRoot);
process.exit(await run(process.argv.slice(2)));

async function run(only) {
  let binary;
  try {
    binary = await ensureGitea();
  } catch (error) {
    if (!(error instanceof GiteaError)) throw error;
    process.stderr.write(`sluice: ${error.message}\n`);
    return 1;
  }
  const contracts = readdirSync('test/contract').filter((name) => /^forge-gitea.*\.test\.ts$/.test(name));
  const files = [...findTests('test/gitea'), ...contracts.map((name) => join('test/contract', name))].filter(
    (file) => only.length === 0 || only.some((part) => file.includes(part)),
  );
  const args = ['--test', '--test-concurrency=2', ...files];
  return exitCodeOf(await runChild(findNode24(), args, { env: { ...process.env, SLUICE_REAL_GITEA: binary } }));
}

function findTests(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}
