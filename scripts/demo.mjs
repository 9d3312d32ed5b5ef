// `npm run demo`: installs what is missing, then shows a queue at work. With --github, on a GitHub of this machine.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';

const args = process.argv.slice(2);
if (args.includes('--github')) {
  // Its GitHub is made for tests, and needs their packages.
  const file = fileURLToPath(new URL('../test/demo/main.ts', import.meta.url));
  process.argv.splice(2, args.length, file, ...args.filter((each) => each !== '--github'));
  await import('./run.mjs');
} else {
  await ensureInstalled({ dev: false });
  const launcher = new URL('../bin/sluice.mjs', import.meta.url);
  process.argv.splice(1, 1, fileURLToPath(launcher), 'demo');
  await import(launcher.href);
}
