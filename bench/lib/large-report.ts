import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { failureOf, TESTS, testOf } from './ci-reports.ts';

const LINE = '2026-07-01 10:00:00.123 INFO  [main] com.acme.shop.Cart - added item 4711 to the cart\n';
const FAILS_EVERY = 100;

/** One compressed report of all tests, with as much output as this size needs. */
export async function packedLargeReport(bytes: number): Promise<Uint8Array> {
  const packing = createGzip({ level: 4 });
  const packed = buffer(packing);
  for (const piece of pieces(bytes)) if (!packing.write(piece)) await once(packing, 'drain');
  packing.end();
  return packed;
}

function* pieces(bytes: number): Generator<string> {
  const output = `<system-out>${LINE.repeat(Math.floor(bytes / TESTS / LINE.length))}</system-out>`;
  yield '<testsuites><testsuite name="all">';
  for (let index = 0; index < TESTS; index += 1) {
    const { suite, name, file } = testOf(index);
    const { text } = failureOf(index, index);
    const failure = index % FAILS_EVERY === 0 ? `<failure><![CDATA[${text}]]></failure>` : '';
    yield `<testcase name="${name}" classname="${suite}" file="${file}" time="0.1">${failure}${output}</testcase>\n`;
  }
  yield '</testsuite></testsuites>';
}
