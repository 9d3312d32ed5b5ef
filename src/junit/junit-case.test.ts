import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readReport } from '../../test/helpers/junit.ts';
import { relativeCase, toldMessage } from './junit-case.ts';

/** As PHPUnit writes it. */
const report = (root: string, slash = '/') =>
  `<testsuites><testsuite name="${root}${slash}phpunit.xml"><testsuite name="CartTest" file="${root}${slash}tests${slash}CartTest.php"><testcase name="testAdds" class="CartTest" classname="CartTest" file="${root}${slash}tests${slash}CartTest.php"/></testsuite></testsuite></testsuites>`;

const read = (xml: string, root: string | null) =>
  readReport(xml).cases.map((test) => {
    const { file, suite, suites } = relativeCase(test, root);
    return [file, suite, suites];
  });

const RELATIVE = [['tests/CartTest.php', 'phpunit.xml', ['phpunit.xml', 'CartTest']]];

describe('paths of reports [U51] [U44]', () => {
  it('are relative to the folder of the checkout, also as names of suites', () => {
    for (const root of ['/builds/agent-1/app', '/builds/agent-2/app']) {
      assert.deepEqual(read(report(root), root), RELATIVE);
      assert.deepEqual(read(report(root), `${root}/`), RELATIVE);
    }
    assert.deepEqual(read(report('C:\\agent\\app', '\\'), 'C:\\agent\\app'), RELATIVE);
  });

  it('stay as they are outside of it, and where the folder is unknown', () => {
    const whole = read(report('/builds/agent-1/app'), null);
    assert.equal(whole[0]?.[0], '/builds/agent-1/app/tests/CartTest.php');
    for (const root of ['', '/', '/builds/agent-1/ap', '/elsewhere']) {
      assert.deepEqual(read(report('/builds/agent-1/app'), root), whole, root);
    }
  });
});

describe('the message of a failure [J24]', () => {
  const go =
    '=== RUN   TestGet\n=== PAUSE TestGet\n    get_test.go:14: got 1\n=== NAME  TestGet\n    get_test.go:15: got 2\n--- FAIL: TestGet (0.00s)';
  const told = (message: string | null, text: string) => toldMessage({ message, text });

  it('is in the body where the attribute says only that it failed, as gotestsum writes it', () => {
    for (const said of ['Failed', 'failed', 'FAILURE', 'Error', 'Test failed.', '', null])
      assert.equal(told(said, go), 'get_test.go:14: got 1', String(said));
  });

  it('is the attribute where that says more, or the body says nothing', () => {
    assert.equal(told('Failed to connect', go), 'Failed to connect');
    assert.equal(told('Failed', ''), 'Failed');
    assert.equal(told('Failed', '=== RUN   TestGet\n--- FAIL: TestGet (0.00s)'), 'Failed');
  });
});
