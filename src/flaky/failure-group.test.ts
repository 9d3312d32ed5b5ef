import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cleanFailure, type FailureText, groupFailure, maskSecrets, normalise } from './failure-group.ts';
import { topFrames } from './stack-frames.ts';

const messages: readonly (readonly [string, string])[] = [
  ['Timeout of 5000ms exceeded', 'Timeout of <duration> exceeded'],
  ['waited 2.5 seconds', 'waited <duration>'],
  ['expected 3 to equal -4.5', 'expected <n> to equal <n>'],
  ['user 3f2504e0-4f89-11d3-9a0c-0305e82c3301 not found', 'user <uuid> not found'],
  ['at 2026-06-01T10:00:00.123Z', 'at <time>'],
  ['connect ECONNREFUSED 127.0.0.1:54321', 'connect ECONNREFUSED <ip>'],
  ['GET http://localhost:34567/a', 'GET http://localhost:<port>/a'],
  ['com.shop.Cart@1b2c3d4e', 'com.shop.Cart@<hex>'],
  ['pointer 0xc0000140a0', 'pointer <hex>'],
  ['commit deadbeef12 missing', 'commit <hex> missing'],
  ['ENOENT: /srv/ci/shop/cart.json', 'ENOENT: <path>/cart.json'],
  ['ENOENT: C:\\ci\\shop\\cart.json', 'ENOENT: <path>/cart.json'],
  ['cart.ts:12:5 failed', 'cart.ts failed'],
  ['/tmp/tmp.Xa83kd/x', '<path>/x'],
  ['open tmp_8fk2Xp9', 'open tmp_<name>'],
  ['utf8 and int32 stay', 'utf8 and int32 stay'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['a\n  b', 'a b'],
];

const traces: readonly { readonly language: string; readonly text: string; readonly frames: readonly string[] }[] = [
  {
    language: 'JavaScript',
    text: 'Error: no\n    at add (/a/cart.js:1:2)\n    at async Shop.buy (file:///a/shop.mjs:3:4)\n    at /a/x.js:5:6\n    at run (node:internal/process:1:1)\n    at t (/a/node_modules/mocha/r.js:1:1)',
    frames: ['cart.js add', 'shop.mjs Shop.buy', 'x.js'],
  },
  {
    language: 'Python',
    text: 'Traceback (most recent call last):\n  File "/usr/lib/python3/unittest/case.py", line 5, in run\n  File "/a/test_cart.py", line 9, in test_add\n    add()\n  File "/a/cart.py", line 2, in add\nValueError: no',
    frames: ['cart.py add', 'test_cart.py test_add'],
  },
  {
    language: 'pytest',
    text: '>   assert 1 == 2\nE   assert 1 == 2\n\ntests/test_cart.py:12: AssertionError',
    frames: ['test_cart.py'],
  },
  {
    language: 'Java',
    text: 'java.lang.AssertionError\n\tat org.junit.Assert.fail(Assert.java:86)\n\tat com.shop.CartTest.lambda$add$12(CartTest.java:10)\n\tat java.base/java.util.List.of(List.java:1)\n\tat com.shop.CartTest.adds(CartTest.java:9)',
    frames: ['CartTest.java com.shop.CartTest.lambda$add$#', 'CartTest.java com.shop.CartTest.adds'],
  },
  {
    language: 'Go',
    text: 'panic: no\n\ngoroutine 7 [running]:\nshop.(*Cart).Add(0xc000014)\n\t/src/shop/cart.go:12 +0x1d\ntesting.tRunner(0xc0001)\n\t/usr/local/go/src/testing/testing.go:1 +0x2',
    frames: ['shop.(*Cart).Add', 'cart.go'],
  },
  {
    language: 'Ruby',
    text: "Failure\n# ./lib/cart.rb:3:in `add'\n# /usr/gems/rspec-core/x.rb:1:in `run'\n# ./spec/cart_spec.rb:12:in `block (2 levels) in <top (required)>'",
    frames: ['cart.rb add', 'cart_spec.rb block (# levels) in <top (required)>'],
  },
  {
    language: 'Rust',
    text: "thread 'adds' panicked at src/cart.rs:12:5:\nassertion failed\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:1:5\n   2: shop::cart::add\n             at ./src/cart.rs:12:5",
    frames: ['cart.rs', 'shop::cart::add', 'cart.rs'],
  },
  {
    language: 'C#',
    text: 'Assert failed\n   at Xunit.Assert.Equal(Int32 a)\n   at Shop.Cart.Add(Int32 n) in /src/Cart.cs:line 12\n   at Shop.CartTest.Adds() in C:\\src\\CartTest.cs:line 9',
    frames: ['Cart.cs Shop.Cart.Add', 'CartTest.cs Shop.CartTest.Adds'],
  },
  {
    language: 'PHP',
    text: 'Failed asserting\n#0 /app/vendor/phpunit/x.php(1): run()\n#1 /app/src/Cart.php(12): Shop\\Cart->add()\n/app/tests/CartTest.php:33',
    frames: ['Cart.php Shop\\Cart->add', 'CartTest.php'],
  },
];

const aFailure = (facts: Partial<FailureText>): FailureText => ({ type: '', message: '', text: '', ...facts });

describe('the grouping of failures', () => {
  for (const [text, normal] of messages) {
    it(`reads "${text.slice(0, 40)}" as "${normal}" [F18]`, () => assert.equal(normalise(text), normal));
  }
  for (const { language, text, frames } of traces) {
    it(`finds the frames of ${language} [F18]`, () => assert.deepEqual(topFrames(text), frames));
  }

  it('finds one group on another machine, at another time and line, and another one elsewhere [F18]', () => {
    const at = (folder: string, line: number, fn = 'add') =>
      groupFailure(
        aFailure({
          type: 'AssertionError',
          message: `took ${line} ms`,
          text: `AssertionError: x\n    at ${fn} (${folder}/cart.js:${line}:2)`,
        }),
      );
    assert.equal(at('/home/a', 1).key, at('/runner/w/b', 400).key);
    assert.notEqual(at('/home/a', 1).key, at('/home/a', 1, 'remove').key);
    const other = groupFailure(aFailure({ type: 'TypeError', message: 'took 1 ms' }));
    assert.notEqual(other.key, groupFailure(aFailure({ type: 'AssertionError', message: 'took 1 ms' })).key);
  });

  it('summarises a failure in one line [F19]', () => {
    const summary = (facts: Partial<FailureText>) => groupFailure(aFailure(facts)).summary;
    assert.equal(
      summary({ type: 'java.lang.AssertionError', message: 'expected 1\nbut was 2' }),
      'AssertionError: expected 1',
    );
    assert.equal(summary({ type: 'AssertionError', message: 'AssertionError: no' }), 'AssertionError: no');
    assert.equal(summary({ text: '\n  Error: late\n    at a (/b.js:1:2)' }), 'Error: late');
    assert.equal(summary({ message: 'cart_test.go:12: got 1\ncart_test.go:13: got 2' }), 'got 1');
    const testify = 'cart_test.go:9:\n  \tError Trace:\t/a/cart_test.go:9\n  \tError:      \tNot equal';
    assert.equal(summary({ message: testify }), 'Error: Not equal');
    assert.equal(summary({}), 'Failed without a message');
    assert.equal(summary({ type: 'TimeoutError' }), 'TimeoutError');
    assert.equal(summary({ message: 'x'.repeat(500) }).length, 200);
    assert.ok(
      !/[\ud800-\udfff]…/.test(summary({ message: '😀'.repeat(500) }).replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')),
    );
  });

  it('stores nothing but cleaned text [F20]', () => {
    const cleaned = cleanFailure(
      aFailure({ message: '\u001b[31mDB_PASSWORD=hunter2\u001b[0m', text: 'https://a:b@c/' }),
    );
    assert.deepEqual(cleaned, aFailure({ message: 'DB_PASSWORD=***', text: 'https://***@c/' }));
  });

  it('takes any text at all, of any length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (message, text) => {
        const { key, summary } = groupFailure(cleanFailure(aFailure({ message, text })));
        assert.match(key, /^[0-9a-f]{16}$/);
        assert.ok(summary.length > 0 && summary.length <= 200 && !summary.includes('\n'));
      }),
    );
    for (const piece of ['/a', 'a/', '1.', 'at a (', '::', 'a.b', '0', 'f0', ' ', '\\', 'tmp', '\n#1 x', 'a:1:2\n']) {
      groupFailure(aFailure({ message: piece.repeat(50_000), text: piece.repeat(50_000) }));
    }
  });
});

/** Joined from pieces, so that secret scanners do not report this file. */
const joined = (...parts: readonly string[]) => parts.join('');
const LETTERS = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY';

const secrets: readonly (readonly [string, string])[] = [
  [joined('push with ghp', '_', LETTERS), 'push with ***'],
  [joined('github', '_pat_', LETTERS, ' expired'), '*** expired'],
  [joined('glpat', '-', LETTERS), '***'],
  [joined('AKI', 'AIOSFODNN7EXAMPLE denied'), '*** denied'],
  [joined('token eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.', LETTERS), 'token ***'],
  [joined('xox', 'b-1234567890-abcdef'), '***'],
  [joined('slc', '_', LETTERS), '***'],
  [joined('sk', '_live_', LETTERS), '***'],
  ['GET https://bob:hunter2@example.com/x failed', 'GET https://***@example.com/x failed'],
  ['postgres://app:s3cr:et@db:5432/shop', 'postgres://***@db:5432/shop'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic ***'],
  ['{"Authorization":"Bearer abcdef0123456789"}', '{"Authorization":"Bearer ***"}'],
  ['curl -H "x-api-key: 12345"', 'curl -H "x-api-key: ***"'],
  ['DB_PASSWORD=hunter2 npm test', 'DB_PASSWORD=*** npm test'],
  ['{"password": "hunter2"}', '{"password": "***"}'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'aws_secret_access_key = ***'],
  ['client_secret: "abc123def"', 'client_secret: "***"'],
  ['https://x.example/cb?token=abcd1234&state=1', 'https://x.example/cb?token=***&state=1'],
  [
    joined('key:\n-----BEGIN RSA PRIVATE', ' KEY-----\nMIIE\nabc\n-----END RSA PRIVATE', ' KEY-----\nafter'),
    'key:\n-----BEGIN PRIVATE KEY-----***\nafter',
  ],
  [joined('-----BEGIN PRIVATE', ' KEY-----\nMIIE cut sho'), '-----BEGIN PRIVATE KEY-----***'],
];

const harmless = [
  'Unexpected token: foo at position 3',
  'SyntaxError: Unexpected token < in JSON',
  'expected password to be undefined',
  'token = null',
  'at Object.<anonymous> (/app/cart.js:1:2)',
  'see https://example.com/a@b',
  'Secrets: none',
];

describe('the mask of secrets in failure texts', () => {
  for (const [text, masked] of secrets) {
    it(`masks ${masked.split('\n')[0]} [F20]`, () => assert.equal(maskSecrets(text), masked));
  }
  for (const text of harmless) {
    it(`leaves "${text}" as it is`, () => assert.equal(maskSecrets(text), text));
  }

  it('reads hostile texts in time [F20]', () => {
    for (const piece of [
      'eyJ',
      'eyJ-',
      'a:',
      '://a:',
      'password',
      'password=',
      '-----BEGIN PRIVATE KEY-----',
      'authorization: ',
      ' ',
      '_',
      'x.',
    ]) {
      maskSecrets(piece.repeat(Math.ceil(200_000 / piece.length)));
    }
  });
});
