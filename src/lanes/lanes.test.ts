import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinPackages } from './join-packages.ts';
import type { Lanes, Manifest, Placed } from './lanes.ts';
import { parseRules } from './parse-rules.ts';
import { placeFiles } from './place-files.ts';

type Files = Readonly<Record<string, string | object>>;

function manifestsOf(files: Files): readonly Manifest[] {
  return Object.entries(files).map(([path, text]) => ({
    path,
    text: typeof text === 'string' ? text : JSON.stringify(text),
  }));
}

function lanesOf(section: object, files: Files = {}): Lanes {
  const rules = parseRules(Buffer.from(JSON.stringify({ targets: section })));
  assert.ok(rules !== undefined && !('problem' in rules), JSON.stringify(rules));
  const lanes = joinPackages(rules, manifestsOf(files));
  assert.ok(!('problem' in lanes), JSON.stringify(lanes));
  return lanes;
}

function place(lanes: Lanes, ...paths: string[]): Placed {
  return placeFiles({ lanes, paths, shown: 10 });
}

/** The targets, or the reason why it is everything. */
function told(lanes: Lanes, ...paths: string[]): string {
  const { all, targets } = place(lanes, ...paths);
  return all === undefined ? targets.join(' ') : `${all.code} ${all.name}`;
}

function problemOf(text: string): string {
  const rules = parseRules(Buffer.from(text));
  assert.ok(rules !== undefined && 'problem' in rules, text);
  return rules.problem;
}

describe('the section targets of a repository’s file', () => {
  it('[T7] is absent in a file without it, also in an empty one', () => {
    for (const text of ['', 'checks: {}', 'targets:']) assert.equal(parseRules(Buffer.from(text)), undefined);
  });

  it('[T7] has defaults, and takes one text for a list', () => {
    assert.deepEqual(parseRules(Buffer.from('targets: { paths: { web: web/** } }')), {
      paths: [{ target: 'web', patterns: ['web/**'] }],
      readsWorkspaces: false,
      barriers: [],
      otherwise: 'ALL',
    });
  });

  const WRONG: readonly (readonly [text: string, sentence: RegExp])[] = [
    [
      'targets: { pathz: {} }',
      /^\.sluice\.yaml: targets\.pathz is unknown; targets has paths, workspaces, barriers, otherwise\.$/,
    ],
    ['targets: [web]', /targets must be a mapping/],
    ['targets: { paths: [web] }', /targets\.paths must be a mapping of names to patterns/],
    ['targets: { paths: { "a\\nb": x } }', /targets\.paths: "a b" is no name of a target/],
    ['targets: { paths: { " a": x } }', /" a" is no name/],
    ['targets: { paths: { ALL: x } }', /ALL is everything, and no name/],
    ['targets: { paths: { web: [1] } }', /targets\.paths\.web must be a list of patterns/],
    ['targets: { paths: { web: ["!x"] } }', /targets\.paths\.web: "!x" begins with "!"/],
    ['targets: { barriers: ["/x"] }', /targets\.barriers: "\/x" must begin at the root/],
    ['targets: { barriers: ["x/"] }', /ends in "\/" and matches no file/],
    ['targets: { workspaces: all }', /targets\.workspaces must be auto or none/],
    ['targets: { otherwise: [""] }', /targets\.otherwise: "" is no name/],
    ['targets: &a { paths: *a }', /is not valid YAML, or uses aliases/],
    [`targets: { paths: { web: "${'x'.repeat(70_000)}" } }`, /more than 64 KiB/],
  ];
  for (const [text, sentence] of WRONG) {
    it(`[T13] is refused with a sentence: ${text.slice(0, 50).replaceAll('\n', ' ')}`, () => {
      assert.match(problemOf(text), sentence);
    });
  }

  it('[T7] takes names with spaces', () => {
    assert.equal(told(lanesOf({ paths: { 'the web': 'web/**' } }), 'web/a'), 'the web');
  });
});

describe('the targets of changed files', () => {
  const lanes = lanesOf({
    paths: { web: ['web/**'], api: ['api/**', 'proto/**/*.proto'], docs: ['**/*.md'] },
    barriers: ['.github/**', 'package-lock.json'],
  });

  it('[T10] are those of all patterns that match, with hidden files and folders', () => {
    assert.equal(told(lanes, 'web/a.ts', 'web/.eslintrc', 'proto/a/.b/x.proto'), 'api web');
    assert.equal(told(lanes, 'web/deep/README.md'), 'docs web');
  });

  it('[T10] are everything by a barrier or by a file that nothing matches', () => {
    assert.equal(told(lanes, 'web/a.ts', '.github/workflows/ci.yml'), 'BARRIER .github/**');
    assert.equal(told(lanes, 'web/a.ts', 'Makefile'), 'OTHERWISE Makefile');
    assert.equal(told(lanes), '');
  });

  it('[T10] are those of otherwise for files that nothing matches', () => {
    const some = (otherwise: unknown) => lanesOf({ paths: { web: 'web/**' }, otherwise });
    assert.equal(told(some('rest'), 'x', 'web/a'), 'rest web');
    assert.equal(told(some(['a', 'b']), 'x'), 'a b');
    assert.equal(told(some([]), 'x'), '');
    assert.equal(told(some('rest'), 'web/a'), 'web');
  });

  it('[T11] are everything for the configuration, and for manifests where workspaces are read', () => {
    assert.equal(told(lanes, '.sluice.yaml'), 'MANIFEST .sluice.yaml');
    assert.equal(told(lanes, 'web/package.json'), 'web');
    assert.equal(told(lanes, 'web/.sluice.yaml'), 'web');
    const auto = lanesOf({ paths: { web: 'web/**' }, workspaces: 'auto' });
    for (const path of ['web/package.json', 'go.work', 'a/go.mod', 'Cargo.toml', 'pnpm-workspace.yaml'])
      assert.equal(told(auto, path), `MANIFEST ${path}`);
  });

  it('[T18] name the pattern or the package of each file, those that impact everything first', () => {
    const { files, fileCount } = place(lanes, 'web/a.ts', 'Makefile', 'api/b.md');
    assert.equal(fileCount, 3);
    assert.deepEqual(files, [
      { path: 'Makefile', all: { code: 'OTHERWISE', name: 'Makefile' }, hits: [] },
      { path: 'web/a.ts', hits: [{ target: 'web', pattern: 'web/**' }] },
      {
        path: 'api/b.md',
        hits: [
          { target: 'docs', pattern: '**/*.md' },
          { target: 'api', pattern: 'api/**' },
        ],
      },
    ]);
  });
});

const NPM = {
  'package.json': { name: 'root', workspaces: ['packages/*', '!packages/old'], dependencies: { a: '1' } },
  'packages/a/package.json': { name: '@x/a' },
  'packages/b/package.json': { name: '@x/b', dependencies: { '@x/a': '^1.0.0' } },
  'packages/c/package.json': { name: '@x/c', devDependencies: { alias: 'workspace:@x/b@*' } },
  'packages/d/package.json': { name: '@x/d', peerDependencies: { z: 'file:../c' } },
  'packages/old/package.json': { name: '@x/old' },
  'packages/a/node_modules/q/package.json': { name: 'q', workspaces: ['*'] },
};

describe('packages of workspaces', () => {
  const auto = (files: Files) => lanesOf({ workspaces: 'auto' }, files);

  it('[T8] of npm and Yarn impact what depends on them, also over others, by alias and by folder', () => {
    const lanes = auto(NPM);
    assert.equal(told(lanes, 'packages/a/src/x.ts'), '@x/a @x/b @x/c @x/d');
    assert.equal(told(lanes, 'packages/c/x'), '@x/c @x/d');
    assert.equal(told(lanes, 'packages/old/x'), 'OTHERWISE packages/old/x');
    assert.deepEqual(place(lanes, 'packages/c/x').dependents, [{ target: '@x/c', names: ['@x/d'] }]);
    const yarn = auto({ ...NPM, 'package.json': { workspaces: { packages: ['./packages/b/'] } } });
    assert.equal(told(yarn, 'packages/b/x'), '@x/b');
  });

  it('[T8] of pnpm are those of pnpm-workspace.yaml', () => {
    const lanes = auto({
      ...NPM,
      'package.json': {},
      'pnpm-workspace.yaml': 'packages:\n  - packages/**\n  - "!**/old"',
    });
    assert.equal(told(lanes, 'packages/d/x'), '@x/d');
    assert.equal(told(lanes, 'packages/old/x'), 'OTHERWISE packages/old/x');
  });

  it('[T8] of go.work follow require and replace', () => {
    const lanes = auto({
      'go.work': 'go 1.25 // now\nuse (\n  ./lib\n  ./app // a comment\n)\nuse "./tool"\n',
      'lib/go.mod': 'module example.com/lib\n',
      'app/go.mod': 'module example.com/app\nrequire (\n  example.com/lib v1.2.3\n  other v1\n)\n',
      'tool/go.mod': 'module example.com/tool\nrequire fork v0.0.0\nreplace fork v0.0.0 => ../app\n',
      'loose/go.mod': 'module loose\nrequire example.com/lib v1.0.0',
    });
    assert.equal(told(lanes, 'lib/x.go'), 'example.com/app example.com/lib example.com/tool');
    assert.equal(told(lanes, 'app/x.go'), 'example.com/app example.com/tool');
    assert.equal(told(lanes, 'loose/x.go'), 'OTHERWISE loose/x.go');
  });

  it('[T8] of Cargo follow paths, inherited dependencies and other names', () => {
    const lanes = auto({
      'Cargo.toml':
        '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/out"]\n[workspace.dependencies]\ncore = { path = "crates/core" }\n',
      'crates/core/Cargo.toml': '[package]\nname = "core"\n',
      'crates/web/Cargo.toml': '[package]\nname = "web"\n[dependencies]\ncore.workspace = true\n',
      'crates/cli/Cargo.toml':
        '[package]\nname = "cli"\n[target."cfg(unix)".dev-dependencies]\nw = { package = "web", version = "1" }\nx = { path = "../../extra" }\n',
      'crates/out/Cargo.toml': '[package]\nname = "out"\n',
      'extra/Cargo.toml': '[package]\nname = "extra"\n',
    });
    assert.equal(told(lanes, 'crates/core/src/lib.rs'), 'cli core web');
    assert.equal(told(lanes, 'extra/x'), 'cli extra');
    assert.equal(told(lanes, 'crates/out/x'), 'OTHERWISE crates/out/x');
  });

  it('[T8] with circles among them impact each other', () => {
    const lanes = auto({
      'package.json': { workspaces: ['*'] },
      'a/package.json': { name: 'a', dependencies: { b: '1' } },
      'b/package.json': { name: 'b', dependencies: { a: '1' } },
    });
    assert.equal(told(lanes, 'a/x'), 'a b');
  });

  it('[T8] count for a path rule that has the name of a package', () => {
    const lanes = lanesOf({ workspaces: 'auto', paths: { '@x/b': 'shared/**' } }, NPM);
    assert.equal(told(lanes, 'shared/x'), '@x/b @x/c @x/d');
  });

  it('[T8] without a usable name have that of their folder', () => {
    const lanes = auto({ 'package.json': { workspaces: ['*'] }, 'a/package.json': { name: 'x\ny' } });
    assert.equal(told(lanes, 'a/x'), 'a');
  });

  it('[T13] that are too large or malformed leave a sentence', () => {
    const rules = lanesOf({ workspaces: 'auto' }).rules;
    const root = { path: 'package.json', text: '{"workspaces":["*"]}' };
    const told = (...manifests: Manifest[]) => joinPackages(rules, manifests);
    assert.deepEqual(told(root, { path: 'a/package.json' }), {
      problem: 'Its workspaces are not known: a/package.json is too large to be read.',
    });
    assert.deepEqual(told(root, { path: 'a/package.json', text: '{' }), {
      problem: 'Its workspaces are not known: a/package.json cannot be read.',
    });
    assert.deepEqual(told({ path: 'package.json', text: '{"workspaces":["a!{"]}' }), {
      problem:
        'Its workspaces are not known: workspaces in package.json: "a!{" has a brace that is not part of {a,b}: write \\{ for the character.',
    });
    assert.ok(!('problem' in told(root, { path: 'deep/fixture/package.json', text: '{' })));
    assert.ok('problem' in told({ path: 'package.json', text: '['.repeat(200_000) }));
  });
});
