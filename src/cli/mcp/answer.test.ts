import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAnswer, formatError, MAX_DATA } from './answer.ts';

const dataOf = (answer: string) => /<(untrusted-\w+)>\n([\s\S]*)\n<\/\1>/.exec(answer)?.[2] ?? assert.fail(answer);
const show = (data: unknown, secret?: string) => dataOf(formatAnswer([{ title: 'Data:', data }], secret));

describe('an answer of a tool', () => {
  it('is cut at its end, a log at its beginning, and says so [W56]', () => {
    const long = `first${'x'.repeat(MAX_DATA)}last`;
    const [head, tail] = [
      formatAnswer([{ title: 'Data:', data: long }], undefined),
      formatAnswer([{ title: 'Log:', data: long, keeps: 'end' }], undefined),
    ];
    assert.match(head, />\nfirstx+\n<\/.*>\nCut: this is only the beginning \(24000 characters\)\./);
    assert.match(tail, />\nx+last\n<\/.*>\nCut: this is only the end \(24000 characters\)\./);
    assert.equal(dataOf(head).length, MAX_DATA);
    assert.doesNotMatch(formatAnswer([{ title: 'Data:', data: 'short' }], undefined), /Cut/);
    const parts = Array.from({ length: 4 }, () => ({ title: 'Data:', data: long, max: 100_000 }));
    assert.ok(formatAnswer(parts, undefined).length < MAX_DATA + 2000);
    assert.match(formatAnswer([{ title: 'Log:', data: 'end', keeps: 'end', isCut: true }], undefined), /Cut/);
  });

  it('has other marks each time [W56]', () => {
    const marks = [1, 2].map(() => /<(untrusted-\w+)>/.exec(formatAnswer([{ title: '', data: '' }], undefined))?.[1]);
    assert.notEqual(marks[0], marks[1]);
  });

  it('shows no credentials [W57]', () => {
    const secrets = [
      'own-token',
      `slc_${'a'.repeat(43)}`,
      `ghp_${'a'.repeat(36)}`,
      `github_pat_${'a'.repeat(60)}`,
      'AKIAABCDEFGHIJKLMNOP',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    ];
    for (const secret of secrets) assert.equal(show(`a ${secret} z`, 'own-token'), 'a [secret removed] z');
    assert.equal(show('Authorization: Bearer abc.def'), 'Authorization: Bearer [secret removed]');
    assert.equal(show('clone https://ada:pass@git.acme.dev/x'), 'clone https://[secret removed]@git.acme.dev/x');
    assert.equal(formatError('no own-token here', 'own-token'), 'no [secret removed] here');
    assert.deepEqual(JSON.parse(show({ log: 'https://a:b@c', at: '2026-09-17T10:16:02Z' })), {
      log: 'https://[secret removed]@c',
      at: '2026-09-17T10:16:02Z',
    });
  });

  it('masks in linear time [W57]', () => {
    const blanks = ' '.repeat(300_000);
    assert.equal(show(`authorization:${blanks}bearer x`).length, MAX_DATA);
    assert.equal(show(`${blanks}x`).length, MAX_DATA);
  });

  it('has no control sequences and no hidden characters [W57]', () => {
    assert.equal(show('\u001b[31mred\u001b[0m\ta\r\nb\rc\u0007\u202ed\u{e0041}e'), 'red\ta\nb\nc d e');
  });
});
