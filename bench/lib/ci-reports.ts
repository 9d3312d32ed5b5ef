import { gzipSync } from 'node:zlib';
import type { Prng } from '../../src/lib/prng.ts';

/** A repository with this many tests, in shards of 5,000. Each upload is one shard on one commit. */
export const TESTS = 20_000;
export const RUNS_PER_UPLOAD = 5_000;
export const SHARDS = TESTS / RUNS_PER_UPLOAD;
const TESTS_PER_SUITE = 50;
const FAILING = 0.01;
/** One in this many tests can fail, because in practice the same tests fail again and again. */
const CAN_FAIL_EVERY = 20;

export interface TestOfSuite {
  readonly suite: string;
  readonly name: string;
  readonly file: string;
}

export function testOf(index: number): TestOfSuite {
  const [module, number] = [Math.floor(index / 2_000), Math.floor(index / TESTS_PER_SUITE)];
  return {
    suite: `com.acme.shop.module${module}.Suite${number}Test`,
    name: `handles carts of kind ${index} and their items`,
    file: `module${module}/src/test/java/com/acme/shop/Suite${number}Test.java`,
  };
}

/** Whether it fails this time. */
export function failsNow(index: number, random: Prng): boolean {
  return index % CAN_FAIL_EVERY === 0 && random.chance(FAILING * CAN_FAIL_EVERY);
}

/** A failure with its own message and a stack of one kilobyte. */
export function failureOf(index: number, value: number): { readonly message: string; readonly text: string } {
  const message = `expected: <${index % 10}> but was: <${value}>`;
  const frames = Array.from(
    { length: 14 },
    (_, depth) =>
      `\tat com.acme.shop.module${index % 7}.Service${depth}.call(Service${depth}.java:${100 + depth * 13})`,
  );
  return { message, text: `org.opentest4j.AssertionFailedError: ${message}\n${frames.join('\n')}\n` };
}

/** The report of one shard, compressed as CI would send it. */
export function packedReport(shard: number, random: Prng): Uint8Array {
  const lines: string[] = ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'];
  for (let first = shard * RUNS_PER_UPLOAD; first < (shard + 1) * RUNS_PER_UPLOAD; first += TESTS_PER_SUITE) {
    lines.push(suiteText(first, random));
  }
  lines.push('</testsuites>\n');
  return gzipSync(lines.join(''), { level: 4 });
}

function suiteText(first: number, random: Prng): string {
  const indexes = Array.from({ length: TESTS_PER_SUITE }, (_, offset) => first + offset);
  const failing = new Set(indexes.filter((index) => failsNow(index, random)));
  const cases = indexes.map((index) => caseText(index, failing.has(index), random)).join('');
  const counts = `tests="${indexes.length}" failures="${failing.size}" errors="0" skipped="0"`;
  return `<testsuite name="${testOf(first).suite}" ${counts} time="3.2">\n${cases}</testsuite>\n`;
}

function caseText(index: number, fails: boolean, random: Prng): string {
  const { suite, name, file } = testOf(index);
  const attributes = `name="${name}" classname="${suite}" file="${file}" time="0.${random.integer(900) + 10}"`;
  if (!fails) return `<testcase ${attributes}/>\n`;
  const { message, text } = failureOf(index, random.integer(1_000));
  const escaped = message.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const failure = `<failure message="${escaped}" type="org.opentest4j.AssertionFailedError"><![CDATA[${text}]]></failure>`;
  return `<testcase ${attributes}>${failure}</testcase>\n`;
}
