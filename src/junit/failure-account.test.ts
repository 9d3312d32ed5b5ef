import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readReport } from '../../test/helpers/junit.ts';
import { reportProblem } from './junit-case.ts';

const suite = (inside: string, attributes = ''): string => `<testsuite name="s" ${attributes}>${inside}</testsuite>`;

function read(xml: string) {
  const { cases, summary } = readReport(xml);
  const told = cases.map(({ name, status }) => `${name} ${status}`);
  return { told, unaccounted: summary.unaccounted, problem: reportProblem(summary) };
}

const WHOLE = { unaccounted: 0, problem: null };

describe('every failure of a report belongs to a failing test, or the report is not believed [J14] [J23]', () => {
  it('a test that was skipped and whose teardown failed has failed, in either order [J3]', () => {
    for (const inside of ['<skipped/><error/>', '<error/><skipped/>', '<skipped/><failure/>']) {
      const report = suite(`<testcase name="a">${inside}</testcase>`, 'tests="1" errors="1" failures="0" skipped="1"');
      assert.deepEqual(read(report), { told: ['a failure'], ...WHOLE }, inside);
    }
    const said = suite('<testcase name="a" status="failed"><skipped/></testcase>');
    assert.deepEqual(read(said), { told: ['a failure'], ...WHOLE });
  });

  it('a failing todo of node did not fail the run [J16]', () => {
    for (const inside of ['<skipped type="todo"/><failure/>', '<failure/><skipped type="todo"/>']) {
      const report = suite(`<testcase name="a">${inside}</testcase>`, 'tests="1" failures="1" errors="0"');
      assert.deepEqual(read(report), { told: ['a skipped'], ...WHOLE }, inside);
    }
  });

  it('a failing class without a test name is told by its class [J6]', () => {
    const report = suite('<testcase name="" classname="t.BTest"><error/></testcase>', 'tests="1" errors="1"');
    assert.deepEqual(read(report), { told: ['t.BTest failure'], ...WHOLE });
  });

  it('leftover failures are counted: outside any case, without a name, in an element of its own', () => {
    for (const inside of [
      '<error message="no database"/><testcase name="a"/>',
      '<testcase><failure/></testcase><testcase name="a"/>',
      '<testcase name="a"><steps><failure/></steps></testcase>',
    ]) {
      const { told, unaccounted, problem } = read(suite(inside));
      assert.deepEqual([told, unaccounted], [['a success'], 1], inside);
      assert.notEqual(problem, null, inside);
    }
    assert.equal(
      read('<testsuites><error/><testsuite name="s"><testcase name="a"/></testsuite></testsuites>').unaccounted,
      1,
    );
  });

  it('a case with a failed rerun has failed, unless the report says that it passed in the end [J4]', () => {
    for (const [inside, status] of [
      ['<rerunFailure message="no"/>', 'failure'],
      ['<rerunError/><system-out/>', 'failure'],
      ['<skipped/><rerunFailure/>', 'failure'],
      ['<flakyFailure/><rerunFailure/>', 'failure'],
      [`${'<flakyFailure/>'.repeat(200)}<rerunError/>`, 'failure'],
      ['<steps><rerunFailure/></steps>', 'failure'],
      ['<flakyFailure/>', 'success'],
      ['<flakyError/>', 'success'],
    ] as const) {
      const { told, unaccounted } = read(suite(`<testcase name="a">${inside}</testcase>`));
      assert.deepEqual([told, unaccounted], [[`a ${status}`], 0], inside);
    }
    const said = readReport(
      suite('<testcase name="a"><rerunFailure message="no" type="T">at a.ts:1</rerunFailure></testcase>'),
    );
    const { kind, message, type, text } = said.cases[0]?.outcome ?? {};
    assert.deepEqual({ kind, message, type, text }, { kind: 'failure', message: 'no', type: 'T', text: 'at a.ts:1' });
    assert.equal(said.cases[0]?.reruns.length, 1);
  });

  it('a failed rerun without a case, or in a case without a name, leaves the report unbelieved [J14]', () => {
    assert.deepEqual(read(suite('<testcase classname="t.BTest"><rerunError/></testcase>')).told, ['t.BTest failure']);
    for (const inside of ['<testcase><rerunError/></testcase>', '<rerunFailure/><testcase name="a"/>']) {
      const { unaccounted, problem } = read(suite(inside));
      assert.equal(unaccounted, 1, inside);
      assert.notEqual(problem, null, inside);
    }
  });

  it('printed output of a test is no failure', () => {
    const printed =
      '<testcase name="a"><system-out><x><error/></x><rerunError/></system-out></testcase><system-err><failure/></system-err>';
    assert.deepEqual(read(suite(printed)), { told: ['a success'], ...WHOLE });
  });

  it('failures that are declared and not found are counted, also where the file ends in the middle', () => {
    const declared = 'tests="2" failures="1" errors="1"';
    assert.deepEqual(read(suite('<testcase name="a"/><testcase name="b"/>', declared)).unaccounted, 2);
    assert.deepEqual(
      read(suite('<testcase name="a"/><testcase name="b"><failure/></testcase>', declared)).unaccounted,
      1,
    );
    assert.deepEqual(read(`<testsuites failures="1"><testsuite name="s"><testcase name="a"/>`).unaccounted, 1);
    assert.match(
      String(read(suite('<testcase name="a"/>', 'failures="1"')).problem),
      /1 failure that belongs to no failing test/,
    );
  });

  it('a file of another format is refused, also where its elements have names of JUnit [J21]', () => {
    const boost =
      '<TestLog><TestSuite name="s"><TestCase name="a"><FatalError>no</FatalError></TestCase></TestSuite></TestLog>';
    const catch2 =
      '<Catch2TestRun name="t"><TestCase name="a"><OverallResult success="false"/></TestCase></Catch2TestRun>';
    const qtest = '<TestCase name="T"><TestFunction name="a"><Incident type="fail"/></TestFunction></TestCase>';
    for (const report of [boost, catch2, qtest]) {
      const { told, problem } = read(report);
      assert.deepEqual([told, problem], [[], 'is not a whole report.'], report);
    }
  });

  it('a report without cases is one, and says so [J21]', () => {
    for (const report of ['<testsuites/>', '<testsuites tests="0"></testsuites>', '<testsuite name="s" tests="0"/>']) {
      assert.deepEqual(read(report), { told: [], ...WHOLE }, report);
      assert.deepEqual(
        readReport(report).summary.issues.map(({ level }) => level),
        ['info'],
        report,
      );
    }
  });
});
