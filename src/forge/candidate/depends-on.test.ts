import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dependenciesIn } from './depends-on.ts';

const OWN = { url: 'https://github.com/Acme/app/pull/7' };

describe('the dependencies that a text states', () => {
  for (const [title, text, stated] of [
    ['numbers, one or several on a line', 'Depends-On: #5\n\nWhy.\nDepends-On: #6, #8', [5, 6, 8]],
    [
      'a key in any case, blanks, and lines that end as on Windows',
      '  dePENDS-on:#5 ,#6\r\nDepends-On:  #8\r\n',
      [5, 6, 8],
    ],
    [
      'an address of the own repository in any case, as a number',
      'Depends-On: https://GitHub.com/acme/APP/pull/5',
      [5],
    ],
    ['the same one only once', 'Depends-On: #5 #5\nDepends-On: https://github.com/acme/app/pulls/5?x#y', [5]],
    [
      'addresses of other repositories, as they are',
      'Depends-On: https://git.test:3000/o/n/pulls/5, http://github.com/acme/app/pull/5#issuecomment-1 https://git.test:3000/O/n/pulls/5',
      ['https://git.test:3000/O/n/pulls/5', 'http://github.com/acme/app/pull/5'],
    ],
  ] as const) {
    it(`${title} [G174]`, () => {
      const expected = stated.map((it) => (typeof it === 'number' ? { number: it } : { url: it }));
      assert.deepEqual(dependenciesIn(text, OWN), expected);
    });
  }

  for (const text of [
    '',
    'This depends-on: #5',
    '> Depends-On: #5',
    'Depends-On #5',
    'Depends-On:\n#5',
    'Depends-On: 5, #0, #05, #-1, #5x, #99999999999, ##5',
    'Depends-On: ftp://github.com/o/n/pull/5 javascript:/o/n/pull/5 //github.com/o/n/pull/5 https://[/o/n/pull/5',
    'Depends-On: https://github.com/o/n/issues/5 https://github.com/n/pull/5 https://github.com/o/n/pull/5/files',
    'Depends-On: https://github.com/a/o/n/pull/5 https://github.com//n/pull/5 https://github.com/o/n/pull/0',
    `Depends-On: https://github.com/${'o'.repeat(3_000)}/n/pull/5`,
  ])
    it(`${JSON.stringify(text).slice(0, 60)} states none [G174]`, () => {
      assert.deepEqual(dependenciesIn(text, OWN), []);
    });

  it('a repository below a path is known as the own one [G174]', () => {
    const own = { url: 'https://host.test/git/acme/app/pulls/7' };
    assert.deepEqual(dependenciesIn('Depends-On: https://host.test/git/acme/app/pulls/5', own), [{ number: 5 }]);
  });

  it('without an own page every address stays one [G174]', () => {
    assert.deepEqual(dependenciesIn(`Depends-On: #5 ${OWN.url}`), [{ number: 5 }, OWN]);
  });

  it('at most 20 count [G174]', () => {
    const many = Array.from({ length: 50 }, (_, index) => `Depends-On: #${index + 1}`).join('\n');
    assert.deepEqual(dependenciesIn(many).at(-1), { number: 20 });
    assert.equal(dependenciesIn(many).length, 20);
  });

  it('hostile texts of a megabyte are read in moments [G174]', () => {
    const size = 2 ** 20;
    const pieces = [
      'depends-on:',
      'depends-on:\n',
      ' ',
      '\n ',
      '\r',
      ',',
      'depends-on: ,',
      'https://',
      'Depends-On: https://a/b/pull/',
    ];
    const texts = pieces.flatMap((piece) => [
      piece.repeat(size / piece.length),
      `Depends-On: ${piece.repeat(size / piece.length)}`,
    ]);
    const slash = `Depends-On: https://a${'/pull'.repeat(200_000)}`;
    const startedAt = performance.now();
    for (const text of [...texts, slash]) dependenciesIn(text, OWN);
    assert.ok(performance.now() - startedAt < 5_000);
  });
});
