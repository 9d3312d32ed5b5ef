// Bundles what is installed: the package SERVER, which is everything, and CLI, the command line alone. Both install the
// command `sluice`. The bundles load in a third of the time of the sources, and need neither packages nor TypeScript.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ensureWeb, packagesOf } from './build-web.mjs';
import { projectRoot } from './node24.mjs';

/** The names of the packages. On the public registry, `sluice` and `sluice-cli` are not ours. */
export const SERVER = '@sluice-queue/server';
export const CLI = '@sluice-queue/cli';

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
 * Writes the package SERVER into `folder`. The bundles are two folders deep, as the sources are: their paths to
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
    entryPoints: ['bin/sluice.mjs', 'src/ingest-main.ts', 'src/simulator-main.ts', 'src/lanes-main.ts'],
    outdir: lib,
    external: ['*/github/stage.ts', '*/gitea/stage.ts', 'pg-native'],
  });
  const web = await ensureWeb(join(folder, 'lib', '.cache', 'web'));
  for (const part of ['shop', 'pull-requests']) {
    cpSync(join(projectRoot, 'examples', 'demo', part), join(lib, part), { recursive: true });
  }
  for (const part of ['deploy', 'docs']) {
    cpSync(join(projectRoot, part), join(folder, part), { recursive: true, dereference: true });
  }
  const ofWeb = JSON.parse(readFileSync(join(web, 'manifest.json'), 'utf8')).packages;
  const packages = [...new Set([...packagesOf(metafile), ...ofWeb])].sort();
  const { optionalDependencies } = readManifest();
  writePackage(folder, { name: SERVER, entry: 'sluice.mjs', packages, more: { optionalDependencies } });
  return packages;
}

/**
 * Writes the package CLI into `folder`: every command that talks to a server, and nothing that Node 20 lacks.
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
  const isText = (path) => !/\.(?:png|yml)$/.test(path);
  cpSync(join(projectRoot, 'docs'), join(folder, 'docs'), { recursive: true, filter: isText });
  const description = 'The command line of Sluice, without the server: for CI jobs and people.';
  writePackage(folder, { name: CLI, entry: 'sluice-cli.mjs', packages, more: { description } });
  return packages;
}

const refusal = (name) => `import { usageError } from './src/cli/core/exit.ts';
export function ${name}() {
  throw usageError('This is ${CLI}, which only talks to a server. Install the package ${SERVER} for this command.');
}`;

/** Modules of commands that do not talk to a server, and texts about them: what stands in their place. */
const SERVER_PARTS = {
  [join(projectRoot, 'src', 'main.ts')]: refusal('serve'),
  [join(projectRoot, 'src', 'move-store.ts')]: refusal('moveStore'),
  [join(projectRoot, 'examples', 'demo', 'run-demo.ts')]: refusal('runDemo'),
  [join(projectRoot, 'src', 'cli', 'simulate', 'simulate.ts')]: refusal('runSimulate'),
  [join(projectRoot, 'src', 'cli', 'core', 'start-text.ts')]:
    "export const START_TEXT = 'Set SLUICE_URL to the address of your server.';",
};

function leaveOutServer(esbuild) {
  esbuild.onLoad({ filter: /[\\/](?:main|move-store|run-demo|simulate|start-text)\.ts$/ }, ({ path }) => {
    const contents = SERVER_PARTS[path];
    return contents === undefined ? undefined : { contents, resolveDir: projectRoot };
  });
}

function readManifest() {
  return JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
}

function writePackage(folder, { name, entry, packages, more }) {
  const { version, description, license, type, engines } = readManifest();
  const files = ['bin', 'lib', 'docs', 'CHANGELOG.md', 'NOTICES.md', ...(name === SERVER ? ['deploy'] : [])];
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
  [SERVER]: `\`npx sluice serve\` runs the server with its dashboard, \`npx sluice demo\` shows a queue at work,
and \`npx sluice --help\` lists the other commands. It needs git. On a Node before 24 it uses the Node 24 that npm
installed with it. \`deploy/\` has a systemd unit, a container, a chart for Kubernetes and alerts, and \`docs/\` the
documentation, which the server shows at \`/docs\`.`,
  [CLI]: `\`npx sluice --help\` lists the commands; \`npx sluice upload\` is the one for CI jobs. It has no
dependencies and runs on Node 20 or newer. The package \`${SERVER}\` has the same commands and the server; \`docs/\` is
the documentation of both.`,
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
