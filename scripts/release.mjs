// `npm run release`: makes the packages of this version in dist/, of the server and of the command line, each with its
// bill of materials, and their checksums. It publishes nothing, and needs no network once the packages of the clone are installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureInstalled } from './lib/install.mjs';
import { projectRoot } from './lib/node24.mjs';
import { parseArguments } from './lib/parse-arguments.mjs';
import { createSbom } from './sbom.mjs';

const usage = `usage: npm run release [-- options]

Makes sluice-queue-server-VERSION.tgz and sluice-queue-cli-VERSION.tgz, each with a bill of materials, and SHA256SUMS.

  --to <folder>  where, instead of dist/; its earlier packages are replaced
  --draft        also from files that are not committed, and without a date in CHANGELOG.md
  --help         prints this text
`;

/** Files of an earlier release. */
const MADE = /^(?:sluice-queue-(?:server|cli)-\d+\.\d+\.\d+.*\.(?:tgz|cdx\.json)|SHA256SUMS)$/;

const { to, draft } = parseArguments(
  { to: { type: 'string', default: join(projectRoot, 'dist') }, draft: { type: 'boolean' } },
  usage,
);
const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
const problems = draft ? [] : findProblems();
for (const problem of problems) process.stderr.write(`sluice: ${problem}\n`);
if (problems.length > 0) process.exit(1);
await ensureInstalled({ dev: false, bundling: true });
process.stdout.write(`${(await release(resolve(to))).join('\n')}\n`);

/** A package of the same name must always have the same content. */
function findProblems() {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: projectRoot, encoding: 'utf8' }).trim();
  const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8');
  const frozen = join(projectRoot, 'test', 'fixtures', 'upgrade', version);
  return [
    ...(changed === '' ? [] : [`Commit these files, or add --draft:\n${changed}`]),
    ...(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm').test(changelog)
      ? []
      : [`CHANGELOG.md has no heading "## [${version}] - DATE" with the day of the release.`]),
    ...(existsSync(frozen) ? [] : [`Run npm run freeze: the next version must open the data of ${version}.`]),
  ];
}

async function release(folder) {
  // Loaded now that its packages are installed.
  const { buildCli, buildSluice, CLI, SERVER } = await import('./lib/build.mjs');
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (MADE.test(file)) rmSync(join(folder, file));
  const made = [...(await makePackage(folder, SERVER, buildSluice)), ...(await makePackage(folder, CLI, buildCli))];
  const sums = made.map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex')}  ${file}\n`,
  );
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return [...made, 'SHA256SUMS'].map((file) => join(folder, file));
}

async function makePackage(folder, name, build) {
  const source = mkdtempSync(join(tmpdir(), 'sluice-release-'));
  const packages = await build(source);
  const args = ['pack', source, '--pack-destination', folder, '--loglevel=error'];
  execFileSync('npm', args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  rmSync(source, { recursive: true });
  // As npm calls the file of a scoped package.
  const file = `${name.slice(1).replace('/', '-')}-${version}`;
  const sbom = `${file}.cdx.json`;
  const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'));
  writeFileSync(join(folder, sbom), `${JSON.stringify(createSbom(lock, { name, packages }), null, 2)}\n`);
  return [`${file}.tgz`, sbom];
}
