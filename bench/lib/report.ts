const PIECE = 65_536;
const TRACE = Array.from(
  { length: 20 },
  (_, n) => `\tat com.acme.shop.Module${n}.call(Module${n}.java:${n * 7})\n`,
).join('');
const LOG = '2026-07-01 10:00:00.123 INFO  [main] com.acme.shop.Cart - added item 4711 to the cart\n';

/** A report like those of Surefire: 200 cases per suite, one in a hundred failing, some output. */
export function* reportBytes(bytes: number): Generator<Uint8Array> {
  let waiting = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="all">\n');
  let total = waiting.length;
  for (let number = 0; total < bytes; number += 1) {
    const suite = Buffer.from(suiteText(number));
    total += suite.length;
    waiting = Buffer.concat([waiting, suite]);
    while (waiting.length >= PIECE) {
      yield waiting.subarray(0, PIECE);
      waiting = waiting.subarray(PIECE);
    }
  }
  yield Buffer.concat([waiting, Buffer.from('</testsuites>\n')]);
}

function suiteText(number: number): string {
  const name = `com.acme.shop.Suite${number}Test`;
  const cases = Array.from({ length: 200 }, (_, index) => caseText(name, index)).join('');
  const counts = 'tests="200" failures="2" errors="0" skipped="2"';
  return `  <testsuite name="${name}" ${counts} time="3.217" timestamp="2026-07-01T10:00:00" hostname="ci-7">\n${cases}    <system-out><![CDATA[${LOG.repeat(20)}]]></system-out>\n  </testsuite>\n`;
}

function caseText(suite: string, index: number): string {
  const subject = index % 4 === 0 ? '&quot;odd&quot; carts' : 'carts';
  const attributes = `name="handles ${subject}, case ${index}" classname="${suite}" time="0.0${index}" file="src/test/java/Suite.java"`;
  if (index % 100 === 1)
    return `    <testcase ${attributes}>\n      <skipped message="not on this platform"/>\n    </testcase>\n`;
  if (index % 100 !== 0) return `    <testcase ${attributes}/>\n`;
  const failure = `<failure message="expected: &lt;10&gt; but was: &lt;${index}&gt;" type="java.lang.AssertionError">java.lang.AssertionError\n${TRACE}</failure>`;
  return `    <testcase ${attributes}>\n      ${failure}\n    </testcase>\n`;
}
