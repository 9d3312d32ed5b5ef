import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createJunitParser } from './create-junit-parser.ts';
import type { JunitCase } from './junit-case.ts';
import { createSetupErrors, isSetupCase } from './setup-case.ts';

const FOLDER = new URL('../../test/fixtures/junit-setup/', import.meta.url);
const OTHERS = new URL('../../test/fixtures/junit/', import.meta.url);

function reportsIn(folder: URL): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith('.xml') ? name.slice(0, -'.xml'.length) : []));
}

function casesOf(file: string, folder = FOLDER): readonly JunitCase[] {
  const parser = createJunitParser();
  return [...parser.write(readFileSync(new URL(`${file}.xml`, folder), 'utf8')), ...parser.end().cases];
}

function readExpected(report: string): string {
  return readFileSync(new URL(`${report}.expected.txt`, FOLDER), 'utf8');
}

// Reports of real runs, shortened. That of Gradle follows its source.
describe('a failed case that stands for no test [F89]', () => {
  for (const report of reportsIn(FOLDER)) {
    it(`is known in a report of ${report}, and its tests stay`, () => {
      const errors = createSetupErrors();
      const left = casesOf(report).filter((each) => !errors.take(each));
      const lines = [errors.tell(), ...left.map(({ name, status }) => `${status} ${name}`)];
      assert.equal(`${lines.join('\n')}\n`, readExpected(report));
    });
  }

  it('is rare in reports of tests: only that of a class whose setup failed', () => {
    const found = reportsIn(OTHERS).filter((report) => casesOf(report, OTHERS).some(isSetupCase));
    assert.deepEqual(found, ['surefire-before-all']);
  });

  it('is none if it passed, was skipped, or only shares a name with one', () => {
    const failed = { classname: '', suite: 'example.com/shop', status: 'failure', outcome: null } as const;
    assert.equal(isSetupCase({ ...failed, name: 'TestMain' }), true);
    assert.equal(isSetupCase({ ...failed, name: 'TestMain', status: 'success' }), false);
    assert.equal(isSetupCase({ ...failed, name: 'TestMain', status: 'skipped' }), false);
    assert.equal(isSetupCase({ ...failed, name: 'TestMain', classname: 'example.com/shop' }), false);
    assert.equal(isSetupCase({ ...failed, name: 'cart 1.5', classname: 'cart 1.5', suite: 'cart' }), false);
    assert.equal(isSetupCase({ ...failed, name: 'parse', classname: 'parse', suite: 'parse' }), false);
    assert.equal(isSetupCase({ ...failed, name: 'initializationError' }), false);
  });
});
