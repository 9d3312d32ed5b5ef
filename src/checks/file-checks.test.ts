import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileChecksGrant } from './check.ts';
import { checksOfFile } from './file-checks.ts';

const GRANT: FileChecksGrant = { network: false, userNamespaces: false, longestMinutes: 30 };
const REGISTERED = [{ name: 'registered', command: 'make', timeoutMinutes: null }];

function read(text: string | undefined, fileChecks: FileChecksGrant | null = GRANT) {
  return checksOfFile({ checks: REGISTERED, fileChecks }, text === undefined ? undefined : Buffer.from(text));
}

describe('checks of a file', () => {
  it('name the secrets that are granted, and no other [R97]', () => {
    const text = 'checks: { unit: { run: x, secrets: [TOKEN] } }';
    assert.match(JSON.stringify(read(text)), /checks\.unit asks for the secret \\"TOKEN\\", which is not granted/);
    for (const granted of ['TOKEN', '*'])
      assert.deepEqual(Object.assign({}, ...[read(text, { ...GRANT, secrets: ['OTHER', granted] })].flat()).secrets, [
        'TOKEN',
      ]);
  });

  it('replace the registered ones where the registration grants it [R60]', () => {
    const text = 'checks: { unit: { run: npm test } }';
    assert.deepEqual(read(text), [{ name: 'unit', command: 'npm test', timeoutMinutes: 30 }]);
    assert.equal(read(text, null), REGISTERED);
    assert.equal(read('merge: { required_statuses: [unit] }'), REGISTERED);
    assert.equal(read(undefined), REGISTERED);
  });

  it('have a cache and tools [R89]', () => {
    const cache = (text: string) => read(`checks: { a: { run: x, prepare: y, tools: [node, g++], cache: ${text} } }`);
    const read1 = (text: string) => {
      const checks = cache(text);
      return 'problem' in checks ? checks.problem : checks[0]?.cache;
    };
    const plain = { key: ['package-lock.json'], paths: ['~/.npm'] };
    assert.deepEqual(read1('{ key: package-lock.json, paths: [~/.npm/], verified: true }'), {
      ...plain,
      verified: true,
    });
    assert.deepEqual(read1('{ key: ["**/go.sum"], paths: [node_modules, ~/x/y], result: true }'), {
      ...{ key: ['**/go.sum'], paths: ['node_modules', '~/x/y'], result: true },
    });
    const bad: readonly [text: string, problem: RegExp][] = [
      ['{ key: [a] }', /a\.cache needs key and paths\.$/],
      ['{ key: [../a], paths: [b] }', /leads out of the work tree/],
      ['{ key: [a], paths: [b], verified: true, result: true }', /is either verified or a result/],
      ['{ key: [a], paths: [b], size: 3 }', /a\.cache\.size is unknown; a cache has key, paths, verified, result/],
      ['{ key: [a], paths: [b], result: 1 }', /must be true or false/],
      ['{ key: [a], paths: [b/c, b] }', /"b\/c" lies within "b"/],
      ...['/etc', '~', '~/', '..', 'a/../b', 'a//b', './a', '.git', '~/.', '""', '"a\\nb"', 'x'.repeat(300)].map(
        (path): [string, RegExp] => [`{ key: [a], paths: [${path}] }`, /cache\.paths/],
      ),
    ];
    for (const [text, problem] of bad) assert.match(String(read1(text)), problem, text);
    const noPrepare = read('checks: { a: { run: x, cache: { key: [a], paths: [b], result: true } } }');
    assert.match('problem' in noPrepare ? noPrepare.problem : '', /there is no prepare whose result/);
    for (const tool of ['a/b', '..', 'a b', '$(x)']) {
      const checks = read(`checks: { a: { run: x, tools: ["${tool}"] } }`);
      assert.match('problem' in checks ? checks.problem : '', /a\.tools: .* is no name of a program/, tool);
    }
  });

  it('have every field of a check [R61]', () => {
    const text = `
checks:
  unit:
    prepare: npm ci --prefer-offline
    run: npx vitest run
    env: { NODE_ENV: test, SHARDS: 4 }
    network: true
    userNamespaces: true
    timeoutMinutes: 20
    junit: reports/*.xml
`;
    assert.deepEqual(read(text, { ...GRANT, network: true, userNamespaces: true }), [
      {
        name: 'unit',
        prepare: 'npm ci --prefer-offline',
        command: 'npx vitest run',
        env: { NODE_ENV: 'test', SHARDS: '4' },
        network: true,
        userNamespaces: true,
        timeoutMinutes: 20,
        junit: ['reports/*.xml'],
      },
    ]);
  });

  it('say what runs their tests, and where its arguments go [R104]', () => {
    for (const run of ['npx vitest run "$@"', 'npm test -- "$@"', `gotestsum -- "\${@:-./...}"`, `x "\${@}"`]) {
      const checks = read(JSON.stringify({ checks: { unit: { run, selects: 'vitest' } } }));
      assert.ok(!('problem' in checks) && checks[0]?.selects === 'vitest', run);
    }
  });

  it('last an hour unless they say otherwise, or less is granted [R61]', () => {
    const minutesWith = (longestMinutes: number) => {
      const checks = read('checks: { unit: { run: x } }', { ...GRANT, longestMinutes });
      return 'problem' in checks ? undefined : checks[0]?.timeoutMinutes;
    };
    assert.deepEqual([minutesWith(5), minutesWith(600)], [5, 60]);
  });

  const refused: Readonly<Record<string, string>> = {
    'checks: &a { unit: { run: x } }\nother: *a': 'it is not valid YAML, or uses aliases',
    'checks: [': 'it is not valid YAML, or uses aliases',
    'checks: []': 'checks must be a mapping',
    'checks: {}': 'checks must name 1 to 100 checks',
    'checks: { unit: x }': 'checks.unit must be a mapping',
    'checks: { unit: { prepare: x } }': 'checks.unit.run is missing: the command of the check',
    'checks: { unit: { run: "" } }': 'checks.unit.run must be a text of 1 to 10000 characters',
    'checks: { unit: { run: x, selects: mocha } }': 'checks.unit.selects must be one of pytest, vitest, jest, go',
    'checks: { unit: { run: npm test, selects: jest } }': 'run does not say where its arguments go: "$@"',
    'checks: { unit: { run: npm test $@, selects: jest } }': 'run does not say where its arguments go: "$@"',
    'checks: { unit: { run: x, shell: bash } }': 'checks.unit.shell is unknown; a check has',
    'checks: { unit: { run: x, timeoutMinutes: 0 } }': 'checks.unit.timeoutMinutes must be a whole number from 1',
    'checks: { unit: { run: x, timeoutMinutes: 31 } }': 'checks.unit asks for 31 minutes of the 30 granted',
    'checks: { unit: { run: x, network: true } }': 'checks.unit asks for the network, which is not granted',
    'checks: { unit: { run: x, network: yes please } }': 'checks.unit.network must be true or false',
    'checks: { unit: { run: x, userNamespaces: true } }': 'asks for user namespaces, which are not granted',
    'checks: { unit: { run: x, env: { PATH: /evil } } }': "checks.unit.env.PATH is the server's",
    'checks: { unit: { run: x, env: { SLUICE_RUN: y } } }': "checks.unit.env.SLUICE_RUN is the server's",
    'checks: { unit: { run: x, env: { "A B": y } } }': 'checks.unit.env: "A B" is no name of a variable',
    'checks: { unit: { run: x, junit: ["../x.xml"] } }': 'checks.unit.junit: "../x.xml" leads out of the work tree',
    'checks: { " unit": { run: x } }': '"checks. unit" is no name',
  };
  for (const [text, sentence] of Object.entries(refused)) {
    it(`are refused in ${JSON.stringify(text)} [R61] [R62]`, () => {
      const checks = read(text);
      assert.ok('problem' in checks, 'it is accepted');
      assert.ok(checks.problem.startsWith('.sluice.yaml: ') && checks.problem.includes(sentence), checks.problem);
    });
  }

  it('are refused in a file of more than 64 KiB [R61]', () => {
    const checks = read(`checks: { unit: { run: x } } # ${'x'.repeat(64 * 1024)}`);
    assert.ok('problem' in checks && checks.problem.includes('more than 64 KiB'));
  });
});
