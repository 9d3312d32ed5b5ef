import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Prng } from '../../lib/prng.ts';
import { FRAMEWORKS, type Framework, type NamedTest, selectedNothing, selectTests } from './select-tests.ts';

const named = (name: string, more: Partial<NamedTest> = {}): NamedTest => ({
  ...{ name, file: null, classname: null, parent: null },
  ...more,
});

/** As reports of these frameworks name them. */
const REPORTED: { readonly [Name in Framework]: (name: string) => NamedTest } = {
  pytest: (name) => named(name, { classname: 'tests.test_io.TestFoo', parent: 'pytest' }),
  vitest: (name) => named(name, { classname: 'test/a.test.ts', parent: 'test/a.test.ts' }),
  jest: (name) => named(name, { classname: name, parent: 'undefined', file: 'src/a.test.js' }),
  go: (name) => named(name, { classname: 'example.com/shop', parent: 'example.com/shop' }),
  node: (name) => named(name, { classname: 'test', file: 'test/a.test.mjs' }),
};

const one = (framework: Framework, name: string, more: Partial<NamedTest> = {}) =>
  selectTests(framework, [{ ...REPORTED[framework](name), ...more }]).args;

describe('arguments that select tests', () => {
  it('are those of each framework [R102]', () => {
    const begin = ['--continue-on-collection-errors', '-k'];
    assert.deepEqual(one('pytest', 'test_a[x-1]'), [...begin, '(test_io and TestFoo and test_a[x-1])']);
    assert.deepEqual(one('pytest', 'test_a[$(touch x) not]'), [
      ...begin,
      '(test_io and TestFoo and test_a[ and touch and x and not])',
    ]);
    const vitest = (pattern: string) => ['--passWithNoTests', `--testNamePattern=^\\s*(?:${pattern})\\s*$`];
    assert.deepEqual(one('vitest', 'a > -k'), [...vitest('a\\s+(?:[>›]\\s+)?-k'), 'test/a.test.ts']);
    assert.deepEqual(one('jest', '$(x) y'), [
      '--passWithNoTests',
      '--testNamePattern=(?:^|\\s)(?:\\$\\(x\\)\\s+y)\\s*$',
      '(?:^|/)src/a\\.test\\.js$',
    ]);
    assert.deepEqual(one('go', 'TestA/b_c'), ['example.com/shop', '-run', '^TestA$/^b_c$']);
    assert.deepEqual(one('node', 'adds'), ['--test-name-pattern=^\\s*(?:adds)\\s*$', './test/a.test.mjs']);
    assert.deepEqual(one('node', 'adds', { parent: 'cart' }), [
      '--test-name-pattern=^\\s*(?:cart)\\s*$',
      './test/a.test.mjs',
    ]);
  });

  it('name each file, package and pattern once, and no test of Go beside its subtests [R102]', () => {
    const tests = ['TestA', 'TestA/b', 'TestA/b', 'TestAB'].map(REPORTED.go);
    assert.deepEqual(selectTests('go', tests).args, ['example.com/shop', '-run', '^TestA$/^b$|^TestAB$']);
    const twice = selectTests('vitest', ['a', 'a', 'b'].map(REPORTED.vitest)).args;
    assert.deepEqual(twice.slice(1), ['--testNamePattern=^\\s*(?:a|b)\\s*$', 'test/a.test.ts']);
  });

  it('are for files above 50 tests or 8 KiB, and select all above that, or where a report does not tell [R102]', () => {
    const many = (count: number, file: (index: number) => string) =>
      selectTests(
        'vitest',
        Array.from({ length: count }, (_, index) => named(`test ${index}`, { parent: file(index) })),
      );
    assert.equal(many(50, () => 'a.test.ts').by, 'tests');
    assert.deepEqual(many(51, () => 'a.test.ts').args, ['--passWithNoTests', 'a.test.ts']);
    assert.equal(many(51, (index) => `${'x'.repeat(300)}/${index}.test.ts`).by, 'nothing');
    for (const framework of FRAMEWORKS) {
      const long = selectTests(framework, [REPORTED[framework]('L'.repeat(10_240))]);
      assert.equal(long.by, 'files', framework);
      assert.ok(long.args.every((arg) => arg.length < 100));
      assert.deepEqual(selectTests(framework, []), { framework, by: 'nothing', args: [] });
    }
    assert.equal(selectTests('go', [named('TestA', { classname: 'two words' })]).by, 'nothing');
    assert.equal(selectTests('pytest', [named('$()')]).by, 'nothing');
  });

  it('take files that are of this checkout alone, and never as options [R102]', () => {
    const fileOf = (framework: Framework, file: string) =>
      one(framework, 'x', { file }).filter((arg) => !arg.startsWith('-'));
    for (const file of ['/home/ci/a.test.ts', '../a.test.ts', 'a/../../b.test.ts', 'C:\\a.test.ts', 'Makefile'])
      for (const framework of ['jest', 'node'] as const) assert.deepEqual(fileOf(framework, file), [], file);
    assert.deepEqual(fileOf('vitest', '-k.test.ts'), ['./-k.test.ts']);
    assert.deepEqual(fileOf('node', '-[id] *.test.mjs'), ['./-[[]id[]] [*].test.mjs']);
  });

  it('that found no test are no failure, where an exit code tells that [R103]', () => {
    const asked = selectTests('pytest', [REPORTED.pytest('test_a')]);
    assert.deepEqual(
      [0, 1, 4, 5].map((code) => selectedNothing(asked, code)),
      [false, false, false, true],
    );
    assert.equal(selectedNothing(selectTests('pytest', []), 5), false);
    assert.equal(selectedNothing(selectTests('jest', [REPORTED.jest('a')]), 5), false);
  });
});

const PIECES = [
  ...[
    'a',
    'Test',
    '0',
    '_',
    ' ',
    '  ',
    '-',
    '--',
    '-k',
    '/',
    '//',
    ':',
    '::',
    '.',
    '*',
    '[',
    ']',
    '[*]',
    '(',
    ')',
    '{',
  ],
  ...[
    '}',
    '|',
    '^',
    '$',
    '$(touch x)',
    '`',
    '"',
    "'",
    '\\',
    '\n',
    '\t',
    ' > ',
    ' › ',
    '>',
    ',',
    ';',
    '&',
    '#',
    '!',
    '?',
  ],
  ...[
    '+',
    '=',
    '~',
    '%',
    'and',
    'or',
    'not',
    ' and ',
    'é',
    '日本',
    '😀',
    '\u00a0',
    '\u0000',
    '\u001b[31m',
    '\ufffd',
    '<',
    '&quot;',
  ],
];
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1) * 2_000;

/** Whether the arguments select the test, as the framework decides. */
const SELECTS: { readonly [Name in Framework]: (args: readonly string[], test: NamedTest) => boolean } = {
  pytest: ([, , expression = ''], { name }) => {
    const chain = ['test_io.py', 'TestFoo', name].map((each) => each.toLowerCase());
    return expression.split(' or ').some((each) => {
      assert.match(each, /^\((?:[\p{L}\p{Nd}_:+.[\]\\-]+(?: and |(?=\))))+\)$/u);
      return each
        .slice(1, -1)
        .split(' and ')
        .every((word) => chain.some((part) => part.includes(word.toLowerCase())));
    });
  },
  vitest: ([, pattern = ''], { name }) =>
    [name, name.replaceAll(' > ', ' ')].every((full) => patternOf(pattern).test(full)),
  jest: ([, pattern = ''], { name }) => [name, `outer ${name}`].every((full) => patternOf(pattern).test(full)),
  go: ([, , pattern = ''], { name }) => {
    const levels = pattern.split(/(?<=\$)\/(?=\^)/);
    const parts = name.split('/');
    return levels.length === parts.length && levels.every((level, at) => new RegExp(level).test(parts[at] ?? ''));
  },
  node: ([pattern = ''], { name }) => patternOf(pattern).test(name),
};

function patternOf(argument: string): RegExp {
  return new RegExp(argument.slice(argument.indexOf('=') + 1));
}

const OPTIONS =
  /^--(?:passWithNoTests|continue-on-collection-errors|testNamePattern=.*|test-name-pattern=.*)$|^-(?:k|run)$/s;

describe('arguments that select a test of any name', () => {
  for (const framework of FRAMEWORKS) {
    it(`of ${framework} select it, are options of their own, and fit [R102]`, () => {
      const random = new Prng(`selects ${framework}`);
      for (let run = 0; run < RUNS; run += 1) {
        const length = 1 + random.integer(12);
        const name = Array.from({ length }, () => random.pick(PIECES))
          .join('')
          .trim();
        if (name === '') continue;
        const test = REPORTED[framework](name);
        const { by, args } = selectTests(framework, [test]);
        const story = JSON.stringify({ name, args });
        assert.ok(args.join('').length <= 8_192 && !args.some((arg) => arg.includes('\0')), story);
        if (by === 'tests') assert.ok(SELECTS[framework](args, test), story);
        for (const arg of args) assert.ok(!arg.startsWith('-') || OPTIONS.test(arg), story);
      }
    });
  }
});
