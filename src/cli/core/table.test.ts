import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Column, formatFacts, formatRows, formatTable } from './table.ts';
import { clean, cleanTitle, formatRelative, terminalWidth } from './terminal.ts';

const columns: readonly Column[] = [
  { title: 'ID', keeps: true },
  { title: 'N', align: 'right' },
  { title: 'TITLE', shrinks: true },
];

describe('formatRows', () => {
  it('puts tabs between cells and no titles where the output is no terminal [W32]', (t) => {
    const { isTTY } = process.stdout;
    t.after(() => Object.assign(process.stdout, { isTTY }));
    Object.assign(process.stdout, { isTTY: false });
    const rows = [{ a: 'one\ttwo', b: 'x'.repeat(200) }];
    const table = formatRows(rows, [
      { title: 'A', cell: ({ a }) => a },
      { title: 'B', shrinks: true, cell: ({ b }) => b },
    ]);
    assert.equal(table, `one two\t${'x'.repeat(200)}\n`);
  });
});

describe('formatTable', () => {
  it('aligns columns and leaves no space at the end of lines', () => {
    assert.equal(
      formatTable(columns, [
        ['a', '7', 'one'],
        ['abc', '12', ''],
      ]),
      'ID    N  TITLE\na     7  one\nabc  12\n',
    );
  });

  it('cuts what may shrink to the width of the terminal, and never what people copy', () => {
    const table = formatTable(columns, [['0d7f0a35-6ad6', '7', 'Teach the parser about tabs']], 30);
    assert.equal(table, 'ID             N  TITLE\n0d7f0a35-6ad6  7  Teach the p…\n');
  });

  it('gives each row a block of lines where a column would be cut to less than 8 letters', () => {
    const rows = [
      ['0d7f0a35-6ad6', '7', 'Teach the parser about tabs'],
      ['1d7f0a35-6ad6', '8', ''],
    ];
    assert.match(formatTable(columns, rows, 26), /0d7f0a35-6ad6 {2}7 {2}Teach t…\n/);
    assert.equal(
      formatTable(columns, rows, 25),
      'ID     0d7f0a35-6ad6\nN      7\nTITLE  Teach the parser\n       about tabs\n\nID     1d7f0a35-6ad6\nN      8\nTITLE\n',
    );
  });

  it('goes on in the next line where a column wraps, and breaks a word that is too long [W29]', () => {
    const wrapping: readonly Column[] = [{ title: 'N' }, { title: 'WHY', wraps: true }, { title: 'WHO' }];
    const rows = [['1', `It waits for #3, which is under test. ${'x'.repeat(30)}`, 'Ada']];
    assert.equal(
      formatTable(wrapping, rows, 32),
      [
        'N  WHY                       WHO',
        '1  It waits for #3, which    Ada',
        '   is under test.',
        `   ${'x'.repeat(24)}`,
        `   ${'x'.repeat(6)}`,
        '',
      ].join('\n'),
    );
  });

  it('leaves whole what can be copied in a block of lines [W29]', () => {
    const sha = 'b1'.repeat(20);
    assert.equal(formatFacts([['Head', `${sha} of main`]], 20), `Head  ${sha}\n      of main\n`);
  });

  it('counts the cells that a terminal draws', () => {
    const table = formatTable(
      [{ title: 'TITLE' }, { title: 'WHO' }],
      [
        ['日本', 'Ada'],
        ['e\u0301a', 'Bo'],
        ['🚀', 'Cy'],
      ],
    );
    assert.equal(table, 'TITLE  WHO\n日本   Ada\ne\u0301a     Bo\n🚀     Cy\n');
    assert.equal(formatTable([{ title: 'T', shrinks: true }], [['日本語日本語']], 8), 'T\n日本語…\n');
  });
});

describe('terminalWidth', () => {
  it('is 80 on a terminal that does not know it, and undefined where there is none', () => {
    const { isTTY, columns } = process.stdout;
    try {
      for (const [terminal, width, expected] of [
        [true, 0, 80],
        [true, undefined, 80],
        [true, 60, 60],
        [false, 60, undefined],
      ]) {
        Object.assign(process.stdout, { isTTY: terminal, columns: width });
        assert.equal(terminalWidth(), expected);
      }
    } finally {
      Object.assign(process.stdout, { isTTY, columns });
    }
  });
});

describe('cleanTitle', () => {
  it('leaves no mark that reorders text, and ends after 200 characters [W39]', () => {
    assert.equal(cleanTitle('a\u202eb\u061cc\u2067d\ufeff\u0007e'), 'a b c d e');
    assert.equal(cleanTitle('x'.repeat(10_000)).length, 201);
    assert.doesNotThrow(() => encodeURIComponent(cleanTitle(`${'x'.repeat(199)}🚀`)));
  });
});

describe('clean', () => {
  it('lets no escape sequence or reordering mark reach a terminal', () => {
    assert.equal(clean('a\u001b[31mb\nc\u202ed'), 'a [31mb c d');
  });
});

describe('formatRelative', () => {
  it('reads as people say it', () => {
    const now = Date.parse('2026-09-17T10:16:02.000Z');
    const cases: readonly (readonly [seconds: number, text: string])[] = [
      [0, 'now'],
      [-59, '59 s ago'],
      [-3 * 60, '3 min ago'],
      [-5 * 3600, '5 h ago'],
      [-3 * 86_400, '3 days ago'],
      [90 * 86_400, '2026-12-16'],
      [2 * 3600, 'in 2 h'],
    ];
    for (const [seconds, text] of cases) assert.equal(formatRelative(now + seconds * 1000, now), text);
  });
});
