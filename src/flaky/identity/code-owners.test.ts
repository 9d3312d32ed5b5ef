import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compilePathPattern, matchesPath } from '../../lib/path-pattern.ts';
import { parseCodeOwners } from './code-owners.ts';

describe('CODEOWNERS of GitHub', () => {
  const owners = parseCodeOwners(`\uFEFF# comment
*       @acme/all
*.js    @js # inline
/build/logs/ @doctor
docs/*  docs@example.com
apps/   @octocat
/scripts/ @doctor @octocat
**/logs @ops
/apps/github
src/My\\ File.ts @spaces
app/[id]/page.tsx @routes
a/**/z @deep
`);
  const cases: [string, string[]][] = [
    ['README.md', ['@acme/all']],
    ['deep/down/x.js', ['@js']],
    ['build/logs/a/b.txt', ['@ops']],
    ['docs/getting-started.md', ['docs@example.com']],
    ['docs/build-app/troubleshooting.md', ['@acme/all']],
    ['x/apps/y/z.ts', ['@octocat']],
    ['scripts/run.sh', ['@doctor', '@octocat']],
    ['x/scripts/run.sh', ['@acme/all']],
    ['deeply/nested/logs/x', ['@ops']],
    ['apps/github/x.ts', []],
    ['src/my file.ts', ['@spaces']],
    ['app/[id]/page.tsx', ['@routes']],
    ['app/i/page.tsx', ['@acme/all']],
    ['a/z', ['@deep']],
    ['a/b/c/z', ['@deep']],
    ['./SCRIPTS/Run.sh', ['@doctor', '@octocat']],
    ['.\\scripts\\run.sh', ['@doctor', '@octocat']],
    ['', []],
  ];
  for (const [path, expected] of cases) {
    it(`${path || 'no path'} -> ${expected.join(' ') || 'no owner'} [U4]`, () => {
      assert.deepEqual(owners.ownersOf(path), expected);
    });
  }

  it('is not taken for one of GitLab', () => {
    assert.equal(owners.grammar, 'github');
    assert.deepEqual(owners.issues(), []);
  });
});

describe('CODEOWNERS of GitLab', () => {
  const owners = parseCodeOwners(`* @default
[Docs] @docs-team
docs/
*.md @writers
!/CHANGELOG.md

^[Database][2] @dba @dba2
/db/
model/[a-c]*.rb @models

[docs]
/special.md @special
\\#odd.md @odd
`);
  const cases: [string, string[]][] = [
    ['main.rb', ['@default']],
    ['x/docs/guide.txt', ['@default', '@docs-team']],
    ['readme.md', ['@default', '@writers']],
    ['CHANGELOG.md', ['@default']],
    ['db/schema.rb', ['@default', '@dba', '@dba2']],
    ['lib/model/base.rb', ['@default', '@models']],
    ['lib/model/user.rb', ['@default']],
    ['special.md', ['@default', '@special']],
    ['#odd.md', ['@default', '@odd']],
  ];
  for (const [path, expected] of cases) {
    it(`${path} -> ${expected.join(' ')} [U4]`, () => {
      assert.equal(owners.grammar, 'gitlab');
      assert.deepEqual(owners.ownersOf(path), expected);
    });
  }
});

describe('a CODEOWNERS that means harm', () => {
  it('has warnings with lines for bad owners and for lines that are too long [U52]', () => {
    const { issues } = parseCodeOwners(`*.ts nobody @ok\n${'x'.repeat(5_000)} @long\n`);
    assert.deepEqual(
      issues().map(({ level, line }) => [level, line]),
      [
        ['warning', 1],
        ['warning', 2],
      ],
    );
  });

  it('is matched in bounded steps, and given up when there are too many [U52]', () => {
    const path = `${'a'.repeat(900)}`;
    const pattern = `${'*a'.repeat(450)}b`;
    const steps = { count: 0 };
    assert.equal(matchesPath(compilePathPattern(pattern, { classes: false }), [path], steps), false);
    assert.ok(steps.count <= pattern.length * path.length, `${steps.count}`);

    const deep = { count: 0 };
    const folders = Array.from({ length: 400 }, () => 'a');
    assert.equal(matchesPath(compilePathPattern(`${'**/a/'.repeat(100)}b`, { classes: false }), folders, deep), false);
    assert.ok(deep.count <= 500 * 400, `${deep.count}`);

    const lines = Array.from({ length: 2_000 }, (_, i) => `${pattern}${i} @x`).join('\n');
    const hostile = parseCodeOwners(lines, { maxSteps: 10_000_000 });
    for (let i = 0; i < 50; i += 1) hostile.ownersOf(path + i);
    assert.match(hostile.issues().at(-1)?.message ?? '', /take too long/);
  });

  it('never throws', () => {
    const line = fc.string({ unit: fc.constantFrom(...'ab/*?[]!^\\-# @.\n'), maxLength: 60 });
    fc.assert(
      fc.property(line, fc.string({ unit: fc.constantFrom(...'ab/.\\'), maxLength: 20 }), (text, path) => {
        for (const grammar of [undefined, 'github', 'gitlab'] as const)
          parseCodeOwners(text, { grammar }).ownersOf(path);
      }),
      { numRuns: 2_000 },
    );
  });

  it('matches as the plain definition does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(text, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, name) => {
        fc.pre(pattern !== '**');
        const expected = new RegExp(`^${pattern.replaceAll('?', '.').replaceAll(/\*+/g, '.*')}$`).test(name);
        assert.equal(matchesPath(compilePathPattern(pattern, { classes: false }), [name], { count: 0 }), expected);
      }),
      { numRuns: 2_000 },
    );
  });
});
