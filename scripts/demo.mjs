// `npm run demo`: installs what is missing, then shows a queue at work. With --github or --gitea, on a forge of this machine.
import { fileURLToPath } from 'node:url';
import { ensureWeb, isWebBuilt } from './lib/build-web.mjs';
import { ensureInstalled } from './lib/install.mjs';

// The forges are test helpers and need the development packages.
const isGitea = process.argv.includes('--gitea');
await ensureInstalled({ dev: isGitea || process.argv.includes('--github'), bundling: !isWebBuilt() });
if (isGitea) {
  const { ensureGitea, GiteaError } = await import('./lib/build-gitea.mjs');
  process.env.SLUICE_REAL_GITEA ??= await ensureGitea().catch((error) => {
    if (!(error instanceof GiteaError)) throw error;
    process.stderr.write(`sluice: ${error.message}\n`);
    process.exit(1);
  });
}
await ensureWeb();
const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'demo');
await import(launcher.href);
