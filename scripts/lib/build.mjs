// Bundles what is installed: the package `sluice`, which is everything, and `sluice-cli`, the command line alone. The
// bundles load in a third of the time of the sources, and need neither packages nor TypeScript.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ensureWeb, packagesOf } from './build-web.mjs';
import { projectRoot } from './node24.mjs';

/** Packages in CommonJS call it. */
const banner =
  'import { createRequire as createRequireOfBuild } from "node:module"; const require = createRequireOfBuild(import.meta.url);';

const common = {
  absWorkingDir: projectRoot,
  entryNames: '[name]',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  metafile: true,
  format: 'esm',
  platform: 'node',
  // The first lines run on the Node that is installed, and say what is missing.
  target: 'node20',
  banner: { js: banner },
  logLevel: 'error',
};

/**
 * Writes the package `sluice` into `folder`. The bundles are two folders deep, as the sources are: their paths to
 * package.json and to bin/ stay true. Of the demo, the stages that need the packages for tests are left out.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} the paths in node_modules of the packages that are part of it
 */
export async function buildSluice(folder) {
  const lib = join(folder, 'lib', 'sluice');
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...common,
    entryPoints: ['bin/sluice.mjs', 'src/ingest-main.ts', 'src/simulator-main.ts'],
    outdir: lib,
    external: ['*/github/stage.ts', '*/gitea/stage.ts', 'pg-native'],
  });
  const web = await ensureWeb(join(folder, 'lib', '.cache', 'web'));
  for (const part of ['shop', 'pull-requests']) {
    cpSync(join(projectRoot, 'examples', 'demo', part), join(lib, part), { recursive: true });
  }
  cpSync(join(projectRoot, 'deploy'), join(folder, 'deploy'), { recursive: true, dereference: true });
  const ofWeb = JSON.parse(readFileSync(join(web, 'manifest.json'), 'utf8')).packages;
  const packages = [...new Set([...packagesOf(metafile), ...ofWeb])].sort();
  const { optionalDependencies } = readManifest();
  writePackage(folder, { name: 'sluice', entry: 'sluice.mjs', packages, more: { optionalDependencies } });
  return packages;
}

/**
 * Writes the package `sluice-cli` into `folder`: every command that talks to a server, and nothing that Node 20 lacks.
 *
 * @param {string} folder
 * @returns {Promise<string[]>} the paths in node_modules of the packages that are part of it
 */
export async function buildCli(folder) {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...common,
    entryPoints: ['bin/sluice-cli.mjs'],
    outdir: join(folder, 'lib', 'sluice'),
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [{ name: 'without-server', setup: leaveOutServer }],
  });
  const packages = packagesOf(metafile);
  const description = 'The command line of Sluice, without the server: for CI jobs and people.';
  writePackage(folder, { name: 'sluice-cli', entry: 'sluice-cli.mjs', packages, more: { description } });
  return packages;
}

/** Modules of commands that do not talk to a server, and what the command calls. */
const SERVER_PARTS = {
  [join(projectRoot, 'src', 'main.ts')]: 'serve',
  [join(projectRoot, 'src', 'move-store.ts')]: 'moveStore',
  [join(projectRoot, 'examples', 'demo', 'run-demo.ts')]: 'runDemo',
  [join(projectRoot, 'src', 'cli', 'simulate', 'simulate.ts')]: 'runSimulate',
};

function leaveOutServer(esbuild) {
  esbuild.onLoad({ filter: /[\\/](?:main|move-store|run-demo|simulate)\.ts$/ }, ({ path }) => {
    const name = SERVER_PARTS[path];
    if (name === undefined) return undefined;
    const contents = `import { usageError } from './src/cli/core/exit.ts';
export function ${name}() {
  throw usageError('This is sluice-cli, which only talks to a server. Install the package sluice for this command.');
}`;
    return { contents, resolveDir: projectRoot };
  });
}

function readManifest() {
  return JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
}

function writePackage(folder, { name, entry, packages, more }) {
  const { version, description, license, type, engines } = readManifest();
  const files = ['bin', 'lib', 'CHANGELOG.md', 'NOTICES.md', ...(name === 'sluice' ? ['deploy'] : [])];
  const bin = { sluice: 'bin/sluice.mjs' };
  const manifest = { name, version, description, license, type, engines, bin, files, ...more };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'sluice.mjs'), `#!/usr/bin/env node\nimport '../lib/sluice/${entry}';\n`, {
    mode: 0o755,
  });
  for (const file of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(projectRoot, file), join(folder, file));
  writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${manifest.description}\n\n${READ_ON[name]}\n`);
  writeFileSync(join(folder, 'NOTICES.md'), renderNotices(packages));
}

const READ_ON = {
  sluice: `\`npx sluice serve\` runs the server with its dashboard, \`npx sluice demo\` shows a queue at work,
and \`npx sluice --help\` lists the other commands. It needs git. On a Node before 24 it uses the Node 24 that npm
installed with it. \`deploy/\` has a systemd unit, a container, a chart for Kubernetes and alerts.`,
  'sluice-cli': `\`npx sluice --help\` lists the commands; \`npx sluice upload\` is the one for CI jobs. It has no
dependencies and runs on Node 20 or newer. The package \`sluice\` has the same commands and the server.`,
};

/** The licences of what is bundled ask to be shown. */
function renderNotices(packages) {
  const parts = packages.map((path) => {
    const folder = join(projectRoot, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^(?:licen[cs]e|copying)/i.test(each));
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
    return `## ${name} ${version}\n\n${license}\n\n${text}\n`;
  });
  return `# Packages that are part of this one\n\n${parts.join('\n')}`;
}
