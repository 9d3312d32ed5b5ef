import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readReport } from '../../../test/helpers/junit.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createTestIds } from '../../flaky/identity/test-id.ts';
import { createOutcomeReader } from './failing-tests.ts';

const ids = createTestIds({
  org: 'acme',
  repository: { host: 'github.com', owner: 'acme', name: 'widgets' },
  variant: '',
});

/** The names of failing tests, after reading these files one after another. */
function failing(...files: readonly string[]): string[] {
  const reader = createOutcomeReader(ids);
  for (const file of files) for (const one of readReport(file).cases) reader.add(one);
  return reader.end().failing.map(({ names }) => names.name);
}

const suite = (cases: string, attributes = ''): string => `<testsuite name="s" ${attributes}>${cases}</testsuite>`;
const passed = (attributes = ''): string => `<testcase name="a" classname="c" ${attributes}/>`;
const failed = (attributes = ''): string =>
  `<testcase name="a" classname="c" ${attributes}><failure message="no"/></testcase>`;
const at = (second: number): string => `timestamp="2026-07-01T10:00:0${second}Z"`;

describe('which tests count as failing [W15]', () => {
  it('have the ids that the server gives them [U1]', () => {
    const reader = createOutcomeReader(ids);
    const xml =
      '<testsuite name="math suite"><testcase name="subtracts" classname="math" file="src/math.test.ts"><failure message="expected 1&#10;got 2">stack</failure></testcase></testsuite>';
    for (const one of readReport(xml).cases) reader.add(one);
    const [test] = reader.end().failing;
    assert.equal(test?.id, 'a98a1388-26df-5aea-845d-96cd2aaf9dc3');
    assert.equal(test?.message.split('\n').length, 1);
  });

  it('a pass at a later try takes a failure back, by the count of the report, in any order and over files [J15]', () => {
    assert.deepEqual(failing(suite(failed('attempt="1"') + passed('attempt="2"'))), []);
    assert.deepEqual(failing(suite(passed('attempt="2"') + failed('attempt="1"'))), []);
    assert.deepEqual(failing(suite(failed('attempt="1"')), suite(passed('attempt="2"'))), []);
    assert.deepEqual(failing(suite(failed('attempt="1"') + passed('attempt="2"') + failed('attempt="3"'))), ['a']);
  });

  it('a pass that is only later, or beside it, takes nothing back: it may be another test of that name', () => {
    assert.deepEqual(failing(suite(failed(at(1)) + passed(at(2)))), ['a']);
    assert.deepEqual(failing(suite(failed(), at(1)), suite(passed(), at(2))), ['a']);
    assert.deepEqual(failing(suite(failed() + passed())), ['a']);
    assert.deepEqual(failing(suite(failed('attempt="1"') + passed())), ['a']);
  });

  it('a test of Go that passed when it was run again is listed apart: its package has each name once [F37] [W69]', () => {
    const go = (cases: string) =>
      suite(`<properties><property name="go.version" value="go1.26"/></properties>${cases}`);
    const read = (...files: readonly string[]) => {
      const reader = createOutcomeReader(ids);
      for (const file of files) for (const one of readReport(file).cases) reader.add(one);
      const { tests, failing, rerun } = reader.end();
      return { tests, failing: failing.map(({ names }) => names.name), rerun: rerun.map(({ names }) => names.name) };
    };
    for (const cases of [failed() + passed(), passed() + failed(), failed() + failed() + passed()])
      assert.deepEqual(read(go(cases)), { tests: 1, failing: [], rerun: ['a'] });
    assert.deepEqual(read(go(failed() + failed())), { tests: 1, failing: ['a'], rerun: [] });
    assert.deepEqual(read(go(failed()), go(passed())), { tests: 1, failing: ['a'], rerun: [] });
    assert.deepEqual(read(go(failed() + passed()), go(failed())), { tests: 1, failing: ['a'], rerun: [] });
  });

  it('says in which suites a test failed that shares its id with others [F35]', () => {
    const reader = createOutcomeReader(ids);
    const xml = `<testsuite name="cart">${passed()}<testsuite name="with coupon">${failed()}</testsuite></testsuite>`;
    for (const one of readReport(xml).cases) reader.add(one);
    assert.deepEqual(pluck(reader.end().failing, 'suitePaths'), [['with coupon']]);
  });

  it('reruns within a case never change how it ended, and skipped cases count for nothing', () => {
    const flaky = '<testcase name="a" classname="c"><flakyFailure message="no"/></testcase>';
    assert.deepEqual(failing(suite(flaky)), []);
    const rerun = '<testcase name="a" classname="c"><failure message="no"/><rerunFailure message="no"/></testcase>';
    assert.deepEqual(failing(suite(rerun)), ['a']);
    assert.deepEqual(failing(suite('<testcase name="a" classname="c"><skipped/></testcase>')), []);
  });
});
