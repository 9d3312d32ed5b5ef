// Projects whose tests run by `node --test`: a package of npm, and a tiny one that needs no network.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { BY_SCRIPT, type Edit, once, type Planted, type Project, replaceIn, run } from './project.ts';

const PACKAGE = { name: 'find-my-way', version: '9.10.0' };
/** Tests that need packages of the developers, or a process of their own. */
const LEFT_OUT = ['compile', 'issue-330', 'methods', 'server', 'shorthands'];
const REPORTERS = '--test-reporter=dot --test-reporter-destination=stdout --test-reporter=junit';
const RUN = `node --test --test-isolation=none ${REPORTERS} --test-reporter-destination=report.xml test/*.test.js`;

const HEAD = `'use strict'
const { test } = require('node:test')
const assert = require('node:assert')
`;

const BODIES: Readonly<Record<Planted, string>> = {
  random10: 'planted_random10: () => assert(Math.random() >= 0.1),',
  random20: 'planted_random20: () => assert(Math.random() >= 0.2),',
  clock: 'planted_clock: () => assert(new Date().getSeconds() >= 5),',
  order: `leaves: () => {}, tidies: () => {}, tidies_too: () => {}, tidies_as_well: () => {},
  planted_order: (before) => assert.notStrictEqual(before, 'leaves'),`,
};

function planted(names: readonly Planted[]): Edit {
  const bodies = names.map((name) => `  ${BODIES[name]}\n`).join('');
  const text = `${HEAD}const tests = {\n${bodies}}
let last
for (const [name, body] of Object.entries(tests).sort(() => Math.random() - 0.5)) {
  test(name, () => {
    const before = last
    last = name
    body(before)
  })
}
`;
  return { 'test/planted.test.js': text };
}

function nodeProject(
  of: Pick<Project, 'name' | 'folder' | 'breaks' | 'build'> & { readonly manifest: object },
): Project {
  const { name, folder, breaks, build, manifest } = of;
  const scripts = (test: object) => ({
    'package.json': `${JSON.stringify({ ...manifest, scripts: test }, null, 2)}\n`,
  });
  return {
    name,
    folder,
    breaks,
    build,
    planted,
    check: 'npm test',
    // The version of Node that runs the storm, also in its checks.
    environment: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
    scriptless: scripts({}),
    script: (commands) => scripts({ test: commands }),
    flaky: (number) => ({
      [`test/flaky-${number}.test.js`]: `${HEAD}test('planted_flaky${number}', () => assert(Math.random() >= 0.4))\n`,
    }),
    code: (number) => ({
      [`lib/extra-${number}.js`]: `'use strict'\nmodule.exports = () => ${number}\n`,
      [`test/extra-${number}.test.js`]: `${HEAD}test('extra ${number}', () => assert.equal(require('../lib/extra-${number}')(), ${number}))\n`,
    }),
  };
}

export async function prepareNpm(cache: string): Promise<Project> {
  const { name, version } = PACKAGE;
  const folder = await once(join(cache, `npm-${name}-${version}`), async (unfinished) => {
    await run(unfinished, ['npm', 'pack', '--silent', `${name}@${version}`]);
    await run(unfinished, ['tar', 'xzf', `${name}-${version}.tgz`, '--strip-components=1']);
    await rm(join(unfinished, `${name}-${version}.tgz`));
    for (const left of LEFT_OUT) await rm(join(unfinished, 'test', `${left}.test.js`));
    const { devDependencies, ...manifest } = JSON.parse(await readFile(join(unfinished, 'package.json'), 'utf8'));
    const dependencies = { ...manifest.dependencies, rfdc: devDependencies.rfdc };
    const scripts = { test: RUN };
    await writeFile(join(unfinished, 'package.json'), JSON.stringify({ ...manifest, dependencies, scripts }, null, 2));
    await run(unfinished, ['npm', 'install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund']);
  });
  const index = 'index.js';
  return nodeProject({
    name: 'npm',
    folder,
    manifest: JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')),
    breaks: [
      await replaceIn(folder, index, 'opts.ignoreTrailingSlash || false', 'false'),
      await replaceIn(folder, index, 'opts.maxParamLength || 100', '1'),
    ],
    build: { [index]: `'use strict'\nmodule.exports = function (\n` },
  });
}

const TINY: Readonly<Record<string, string>> = {
  'lib/cart.js': "'use strict'\nexports.sum = (prices) => prices.reduce((a, b) => a + b, 0)\n",
  'test/cart.test.js': `${HEAD}test('sums a cart', () => assert.equal(require('../lib/cart').sum([1, 2]), 3))\n`,
};

/** Without packages, and without the seconds that npm needs to start a script. */
export async function prepareTiny(cache: string): Promise<Project> {
  const folder = await once(join(cache, 'tiny'), async (unfinished) => {
    for (const [file, text] of Object.entries({ ...TINY, ...BY_SCRIPT.script(RUN) })) {
      await mkdir(dirname(join(unfinished, file)), { recursive: true });
      await writeFile(join(unfinished, file), text);
    }
  });
  const build = { 'lib/cart.js': 'exports.sum = (\n' };
  const breaks = [await replaceIn(folder, 'lib/cart.js', 'a + b', 'a - b')];
  const project = nodeProject({ name: 'tiny', folder, manifest: {}, breaks, build });
  return { ...project, ...BY_SCRIPT, check: 'sh test.sh' };
}
