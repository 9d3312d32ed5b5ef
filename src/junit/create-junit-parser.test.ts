import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messages, readReport } from '../../test/helpers/junit.ts';

const suite = (inside: string) => `<testsuite name="s">${inside}</testsuite>`;

describe('cases', () => {
  it('belong to the outermost suite; the names of all are there [J2]', () => {
    const { cases } = readReport(
      '<testsuites name="all"><testsuite name="out" file="o.ts"><testsuite name="in" file="i.ts"><testcase name="a"/></testsuite></testsuite></testsuites>',
    );
    assert.equal(cases[0]?.suite, 'out');
    assert.deepEqual(cases[0]?.suites, ['out', 'in']);
    assert.equal(cases[0]?.file, 'o.ts');
  });

  it('take their own file, then filepath, then those of the suite [J2]', () => {
    const files = readReport(
      '<testsuite name="s" filepath="sp"><testcase name="a" file="f" filepath="p"/><testcase name="b" filepath="p"/><testcase name="c" file=""/></testsuite>',
    ).cases.map(({ file }) => file);
    assert.deepEqual(files, ['f', 'p', 'sp']);
  });

  it('are judged by the first failure or error, else by what they say of skipping [J3]', () => {
    const { cases } = readReport(
      suite(
        '<testcase name="a"><system-out>x</system-out><skipped message="m"/><skipped/></testcase><testcase name="b"><error type="T">t</error><failure/></testcase>',
      ),
    );
    assert.deepEqual(
      cases.map(({ status, outcome }) => [status, outcome?.kind, outcome?.message, outcome?.text]),
      [
        ['skipped', 'skipped', 'm', ''],
        ['failure', 'error', null, 't'],
      ],
    );
  });

  it('keep reruns wherever they stand, and reruns never change the status [J4]', () => {
    const { cases } = readReport(
      suite(
        '<testcase name="a"><rerunFailure message="r" time="1">one</rerunFailure><failure>x</failure></testcase><testcase name="b"><flakyError/></testcase>',
      ),
    );
    assert.deepEqual(
      cases.map(({ status, reruns }) => [status, reruns.map(({ kind, durationMs, text }) => [kind, durationMs, text])]),
      [
        ['failure', [['rerunFailure', 1000, 'one']]],
        ['success', [['flakyError', null, '']]],
      ],
    );
  });

  it('did not pass where their attributes say otherwise [J3]', () => {
    const { cases } = readReport(
      suite(
        '<testcase name="a" status="notrun"/><testcase name="b" result="suppressed" status="run"/><testcase name="c" status="failed"/><testcase name="d" status="passed"/>',
      ),
    );
    assert.deepEqual(
      cases.map(({ status }) => status),
      ['skipped', 'skipped', 'failure', 'success'],
    );
  });

  it('say which try they are by attribute, property or suite [J17]', () => {
    const { cases } = readReport(
      '<testsuite name="s" attempt="3"><testcase name="a" retry="1"/><testcase name="b"><properties><property name="test.retry-index" value="2"/></properties></testcase><testcase name="c"/></testsuite>',
      '<testsuite name="t"><testcase name="d"><properties><property name="retries" value="2"/></properties></testcase></testsuite>',
    );
    assert.deepEqual(
      cases.map(({ attempt }) => attempt),
      [{ name: 'retry', value: 1 }, { name: 'test.retry-index', value: 2 }, { name: 'attempt', value: 3 }, null],
    );
  });

  it('take the time of the case, the suite, the report [J18]', () => {
    const { cases } = readReport(
      '<testsuites timestamp="2026-01-01"><testsuite name="s" timestamp="2026-01-02T00:00:00+01:00"><testcase name="a" timestamp="2026-01-03"/><testcase name="b" timestamp="soon"/></testsuite><testsuite name="t"><testcase name="c"/></testsuite></testsuites>',
    );
    assert.deepEqual(
      cases.map(({ timestampAt, timestampFrom }) => [new Date(timestampAt ?? 0).toISOString(), timestampFrom]),
      [
        ['2026-01-03T00:00:00.000Z', 'case'],
        ['2026-01-01T23:00:00.000Z', 'suite'],
        ['2026-01-01T00:00:00.000Z', 'report'],
      ],
    );
  });

  it('outside a suite are kept, with a warning; without a name dropped, with an error [J6] [J19]', () => {
    const report = readReport('<testsuites>\n<testcase name="a"/>\n<testcase file="c"/>\n</testsuites>');
    assert.deepEqual(
      report.cases.map(({ name, suite: own }) => [name, own]),
      [['a', '']],
    );
    assert.match(messages(report), /^warning 2: .*outside any <testsuite>/);
    assert.match(messages(report), /error 3: .*neither a name nor a class/);
  });

  it('have element names of any case and prefix [J1]', () => {
    const { cases } = readReport(
      '<j:TestSuites><j:testSuite name="s"><j:TestCase name="a"/></j:testSuite></j:TestSuites>',
    );
    assert.equal(cases.length, 1);
  });
});

describe('texts [J7]', () => {
  it('lose colours and control characters, raw or as references', () => {
    const { cases } = readReport(
      suite(
        '<testcase name="a\u0007b\u001b[31mc&#27;[0md&#x1b;]0;title&#7;e"><failure message=" m&#0; ">\u001b[1;32mx\u001b[0m &#155;1my</failure></testcase>',
      ),
    );
    assert.equal(cases[0]?.name, 'abcde');
    assert.equal(cases[0]?.outcome?.message, 'm\ufffd');
    assert.equal(cases[0]?.outcome?.text, 'x y');
  });

  it('lose the white space around them, of which a byte order mark is none', () => {
    const { cases } = readReport(suite('<testcase name="\u00a0\u0085\u3000\ufeffa b\u2003 &#10;"/>'));
    assert.equal(cases[0]?.name, '\ufeffa b');
  });

  it('are cut at 8,000 bytes, between characters', () => {
    const long = '😀é'.repeat(20_000);
    const { cases } = readReport(
      suite(`<testcase name="${long}"><failure message="${long}">${long}<![CDATA[${long}]]></failure></testcase>`),
    );
    for (const text of [cases[0]?.name, cases[0]?.outcome?.message, cases[0]?.outcome?.text]) {
      const bytes = Buffer.byteLength(text ?? '');
      assert.ok(bytes <= 8_000 && bytes > 7_990, String(bytes));
      assert.ok(text?.isWellFormed());
    }
  });

  it('are joined from all their parts', () => {
    const { cases } = readReport(
      suite(
        '<testcase name="a"><failure>x<![CDATA[ ]]]]><![CDATA[> ]]>&amp;y<stackTrace>z</stackTrace></failure></testcase>',
      ),
    );
    assert.equal(cases[0]?.outcome?.text, 'x ]]> &yz');
  });
});

describe('counts [J8]', () => {
  const counts = (xml: string) => readReport(xml).summary;

  it('declared and seen stand beside each other', () => {
    const summary = counts(
      '<testsuites><testsuite name="a" tests="2" failures="1" errors="0" skipped="0"><testcase name="x"/><testcase name="y"><failure/></testcase></testsuite><testsuite name="b" tests="1" failures="0" errors="0"><testcase name="z"/></testsuite></testsuites>',
    );
    assert.deepEqual(summary.seen, { tests: 3, failures: 1, errors: 0, skipped: 0 });
    assert.deepEqual(summary.declared, { tests: 3, failures: 1, errors: 0, skipped: null });
    assert.equal(summary.disagreements, 0);
  });

  it('that disagree are a warning for each suite', () => {
    const report = readReport(
      '<testsuites tests="9">\n<testsuite name="a" tests="2"><testcase name="x"/></testsuite>\n<testsuite name="b" tests="1" failures="1"><testcase name="x"/></testsuite></testsuites>',
    );
    assert.equal(report.summary.disagreements, 3);
    assert.match(messages(report), /warning 2: The suite a does not hold what it declares/);
  });

  it('agree where a reporter counts in its own way', () => {
    const failed = '<failure/>';
    const reports = {
      'Surefire counts reruns as tests and failures':
        '<testsuite name="a" tests="7" errors="1" failures="4"><testcase name="x"><error/><rerunError/><rerunFailure/></testcase><testcase name="y"><flakyFailure/><flakyFailure/></testcase><testcase name="z"/></testsuite>',
      'newer Surefire does not':
        '<testsuite name="a" tests="1" errors="0" failures="0" flakes="1"><testcase name="y"><flakyFailure/></testcase></testsuite>',
      'pytest counts a test that fails in its body and after it once': `<testsuite name="a" tests="1" errors="1" failures="1"><testcase name="x">${failed}</testcase><testcase name="x"><error/></testcase></testsuite>`,
      'Jest counts no test in a file that did not load':
        '<testsuite name="a" tests="0" errors="1" failures="0"><testcase name="a did not load"><error/></testcase></testsuite>',
      'Ginkgo leaves out the skipped': `<testsuite name="a" tests="1" failures="1"><testcase name="x">${failed}</testcase><testcase name="y"><skipped/></testcase></testsuite>`,
    };
    for (const [what, xml] of Object.entries(reports)) assert.equal(counts(xml).disagreements, 0, what);
  });

  it('disagree where a test or a failure is missing', () => {
    const reports = [
      '<testsuite name="a" tests="3" failures="1"><testcase name="x"><flakyFailure/></testcase></testsuite>',
      '<testsuite name="a" tests="4" failures="2"><testcase name="x"><flakyFailure/></testcase><testcase name="y"/></testsuite>',
      '<testsuite name="a" tests="2" failures="2"><testcase name="x"><failure/></testcase><testcase name="y"/><testcase name="z"/></testsuite>',
      '<testsuite name="a" tests="2" failures="0"><testcase name="x"><failure/></testcase><testcase name="y"/></testsuite>',
      '<testsuite name="a" tests="3"><testcase name="x"><flakyFailure/></testcase></testsuite>',
    ];
    for (const xml of reports) assert.equal(counts(xml).disagreements, 1, xml);
  });

  it('of cases directly in the report are not made up', () => {
    assert.equal(
      counts('<testsuites><testsuite name="a" tests="0"/><testcase name="x"/></testsuites>').declared.tests,
      null,
    );
  });
});
