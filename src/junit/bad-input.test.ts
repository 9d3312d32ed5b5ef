import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messages, readPieces, readReport } from '../../test/helpers/junit.ts';
import { liveBytes } from '../../test/helpers/live-bytes.ts';

const suite = (inside: string) => `<testsuite name="s">${inside}</testsuite>`;
const names = ({ cases }: { cases: readonly { name: string }[] }) => cases.map(({ name }) => name);

describe('bad reports', () => {
  it('entities of a DTD are never expanded [J20]', () => {
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('\n');
    const report = readReport(
      `<?xml version="1.0"?>\n<!DOCTYPE t [<!ENTITY l0 "lol">${laughs}]>\n`,
      suite('<testcase name="&l9;"><failure>&l9;</failure></testcase>'),
    );
    assert.equal(report.cases[0]?.name, '&l9;');
    assert.equal(report.cases[0]?.outcome?.text, '&l9;');
    assert.match(messages(report), /error .*declares entities/);
  });

  it('external entities are never fetched [J20]', () => {
    const report = readReport(
      '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
      suite('<testcase name="a"><failure message="&x;"/></testcase>'),
    );
    assert.equal(report.cases[0]?.outcome?.message, '&x;');
    assert.match(messages(report), /error .*declares entities/);
  });

  it('nesting beyond 1,000 levels ends the reading; what came before is used [J9]', () => {
    const deep = readReport(
      '<testsuites><testsuite name="s"><testcase name="a"/>',
      '<testsuite name="x">'.repeat(10_000),
      '</testsuite>'.repeat(10_001),
      '<testcase name="b"/></testsuites>',
    );
    assert.deepEqual(names(deep), ['a']);
    assert.equal(deep.summary.whole, false);
    assert.match(messages(deep), /^error 1: Elements are nested deeper than 1000 levels/);
  });

  it('an attribute of 200 MB is cut and costs no memory [J9]', () => {
    const piece = 'x'.repeat(1_000_000);
    const before = liveBytes();
    let kept = 0;
    const report = readPieces(
      (function* () {
        yield '<testsuite name="s"><testcase name="a"/>\n<testcase name="b" junk="';
        for (let n = 0; n < 200; n += 1) yield piece;
        kept = liveBytes() - before;
        yield '"/><testcase name="c"/></testsuite>';
      })(),
    );
    assert.deepEqual(names(report), ['a', 'b', 'c']);
    assert.ok(kept < 20_000_000, `${kept} bytes`);
    assert.match(messages(report), /warning 2: The attribute junk is too long/);
  });

  it('a tag with millions of attributes and millions of open tags cost no memory [J9]', () => {
    for (const [open, piece] of [
      ['<testcase name="b" ', 'a="1" '.repeat(20_000)],
      ['', '<testcase name="b"><x>'.repeat(5_000)],
    ] as const) {
      const before = liveBytes();
      let kept = 0;
      const report = readPieces(
        (function* () {
          yield `<testsuite name="s"><testcase name="a"/>${open}`;
          for (let n = 0; n < 100; n += 1) yield piece;
          kept = liveBytes() - before;
        })(),
      );
      assert.deepEqual(names(report), ['a']);
      assert.equal(report.summary.whole, false);
      assert.ok(kept < 20_000_000, `${open}: ${kept} bytes`);
    }
  });

  it('an element that never ends takes only itself [J11]', () => {
    const endless = ['<', '</', '<!-- ', '<?x ', '<!DOCTYPE ', '<![CDATA[', '<x y="', '<x y=', '<x '].map((open) =>
      open.padEnd(200_000, 'x'),
    );
    const repeated = ['<!x ', '&', '<', '&#27;', ']]>', '</x>', '\r', '--', '<? '].map((text) => text.repeat(50_000));
    for (const text of [...endless, ...repeated]) {
      const report = readReport('<testsuite name="s"><testcase name="a"/><testcase name="b"><failure>', text);
      assert.deepEqual(names(report), ['a', 'b'], text.slice(0, 10));
      assert.equal(report.summary.whole, false);
    }
  });

  it('no value of an attribute or text takes longer than its length [J9]', () => {
    const attributes = 'name classname file time timestamp tests failures status result message type id attempt'.split(
      ' ',
    );
    const repeated = ['1', '1,000', ' ', '\u001b[1', '\u001b]', '#x1B[;', '&amp;', '2026-01-01T', '-', 'a.', '\u009b0'];
    for (const text of repeated) {
      const value = `${text.repeat(200_000 / text.length)}~`;
      const all = attributes.map((attribute) => `${attribute}="${value}"`).join(' ');
      const report = readReport(
        `<testsuite ${all}><testcase ${all}><failure ${all}>${value}</failure></testcase></testsuite>`,
      );
      assert.equal(report.summary.seen.tests, 1, text);
    }
  });

  it('half a character at the end is no reason to throw [J11]', () => {
    for (const text of ['<!-- -\ud800', '<a b="\ud83d', `${'x'.repeat(65_535)}\ud83d`]) {
      assert.deepEqual(names(readReport('<testsuite name="s"><testcase name="a"/>', text)), ['a']);
    }
  });

  it('issues are listed up to 5 of a kind, and all counted [J10]', () => {
    const { summary } = readReport(suite('<testcase name="a" time="x"/>\n<testcase/>'.repeat(1_000)));
    assert.equal(summary.issues.filter(({ level }) => level === 'info').length, 5);
    assert.deepEqual(summary.issueCounts, { error: 1_000, warning: 0, info: 1_000 });
  });

  it('empty files, HTML, binary and other formats say what they are [J21]', () => {
    assert.match(messages(readReport('')), /^error 1: The file is empty/);
    assert.match(messages(readReport(' \n'.repeat(10_000))), /^error \d+: The file holds no test case/);
    assert.match(messages(readReport('<!doctype html>\n<html><body><p>x<br></body></html>')), /error 2: .*HTML page/);
    assert.match(messages(readReport('<!DOCTYPE html><html lang="en">')), /HTML page/);
    assert.match(messages(readReport('\u001f\ufffd\b\u0000\u0000junk')), /^error 1: The file is not text/);
    assert.match(messages(readReport('PNG\ufffd\ufffd\ufffd\u0001\u0002'.repeat(1_000))), /not text/);
    assert.match(
      messages(readReport('<test-run id="2"><test-case name="a"/></test-run>')),
      /root element is <test-run>/,
    );
    assert.match(messages(readReport('ok 1 - works\n')), /^error \d+: The file holds no test case/);
    for (const text of ['', 'ok 1', '<html>', '\0', '<x/>']) assert.equal(readReport(text).summary.whole, false);
  });

  it('concatenated reports are all read [J19]', () => {
    const one =
      '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="s"><testcase name="a"/></testsuite></testsuites>\n';
    const report = readReport(one, one.replace('"a"', '"b"'), '\ufeff', one.replace('"a"', '"c"'));
    assert.deepEqual(names(report), ['a', 'b', 'c']);
    assert.equal(report.summary.reports, 3);
    assert.match(messages(report), /^warning 4: The file holds several reports/);
    assert.equal(report.summary.issues.length, 1);
    assert.equal(report.summary.whole, true);
  });

  it('a case without an end is told only if it failed [J22]', () => {
    const report = readReport(
      suite('<testcase name="a"><testcase name="b"><failure>f</testcase><testcase name="c"><failure message="m"/>'),
    );
    assert.deepEqual(
      report.cases.map(({ name, status, closed }) => [name, status, closed]),
      [
        ['b', 'failure', true],
        ['c', 'failure', false],
      ],
    );
    assert.equal(report.summary.whole, false);
    assert.match(messages(report), /The test case a has no end/);
  });

  it('a truncated file gives its complete cases [J11]', () => {
    const report = readReport(
      '<testsuites><testsuite name="s" tests="3">\n<testcase name="a"/>\n<testcase name="b"><failure mess',
    );
    assert.deepEqual(names(report), ['a']);
    assert.equal(report.summary.whole, false);
    assert.match(messages(report), /error 3: The file ends in the middle: <testcase>/);
    assert.deepEqual(report.summary.declared.tests, 3);
  });

  it('markup that was not escaped does not swallow the cases after it [J11]', () => {
    const report = readReport(
      suite(
        [
          '<testcase name="a & b"><failure message="x && y < z">if (a < b && c) List<?> </b> at Foo.<init>(Foo.java:1) <!oops &nbsp; &</failure></testcase>',
          '<testcase name="c"/>',
        ].join(''),
      ),
    );
    assert.deepEqual(names(report), ['a & b', 'c']);
    assert.equal(report.cases[0]?.outcome?.message, 'x && y < z');
    assert.match(
      report.cases[0]?.outcome?.text ?? '',
      /^if \(a < b && c\) List<\?> .*at Foo\.\(Foo.java:1\) <!oops &nbsp; &$/,
    );
    assert.equal(report.summary.whole, true);
    assert.equal(report.summary.issueCounts.error, 0);
  });

  it('broken attributes lose at most their own tag [J11]', () => {
    const report = readReport(
      suite(
        '<testcase name="a" message="say "hi" now"/><testcase name=b/><testcase name="c" name="d"/><testcase name="e"/>',
      ),
    );
    assert.ok(names(report).includes('e'));
    assert.match(messages(report), /The test case a has no end/);
    assert.equal(report.summary.whole, false);
  });

  it('CDATA may hold anything, without a word [J7]', () => {
    const report = readReport(
      suite('<testcase name="a"><failure><![CDATA[a && b <c> &lt; <!x &#65; </d>]]></failure></testcase>'),
    );
    assert.equal(report.cases[0]?.outcome?.text, 'a && b <c> &lt; <!x &#65; </d>');
    assert.deepEqual(report.summary.issues, []);
  });

  it('character references of all kinds are read [J7]', () => {
    const report = readReport(
      suite(`<testcase name='&#65;&#x42;&#039;&#0034;&#128512;&#x1F600;&#X43;&#60;&#38;&#xD800;&#99999999;'/>`),
    );
    assert.deepEqual(names(report), [`AB'"😀😀C<&\ufffd\ufffd`]);
  });

  it('durations that are none are absent, and milliseconds are not guessed [J5]', () => {
    const times = [
      '-1',
      'NaN',
      'Infinity',
      '',
      'abc',
      '1e400',
      '0x10',
      '1.5',
      '.5',
      '2e-3',
      '1,234.5',
      '0,25',
      '1,234',
      ' 3 ',
    ];
    const report = readReport(suite(times.map((time) => `<testcase name="a" time="${time}"/>`).join('')));
    const expected = [null, null, null, null, null, null, null, 1500, 500, 2, 1_234_500, 250, null, 3000];
    assert.deepEqual(
      report.cases.map(({ durationMs }) => durationMs),
      expected,
    );
  });
});
