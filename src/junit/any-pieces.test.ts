import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readPieces, readReport } from '../../test/helpers/junit.ts';

const FOLDER = new URL('../../test/fixtures/junit/', import.meta.url);
const REPORTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.xml'))
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
/** Longer than several blocks, so that block ends fall everywhere. */
const LONG =
  `<testsuites>${REPORTS.map((report) => report.replace(/^<\?xml.*?\?>/, '')).join('\n')}</testsuites>`.repeat(8);

function cutAt(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

const places = fc.array(fc.nat(), { maxLength: 30 });
/** A report with random damage. */
const damaged = fc
  .tuple(
    fc.constantFrom(...REPORTS),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat({ max: 40 }),
        fc.constantFrom(
          '',
          '<',
          '>',
          '&',
          '"',
          "'",
          '/',
          '</',
          '<!',
          '<?',
          ']]>',
          '\0',
          '\r',
          '<b>',
          '</testcase>',
          '<testcase name="x">',
          '😀',
          '\ud800',
          '&#27;',
          '<!--',
          '<![CDATA[',
        ),
      ),
      { maxLength: 8 },
    ),
  )
  .map(([report, edits]) => {
    let text = report;
    for (const [place, length, put] of edits) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + put + text.slice(at + length);
    }
    return text;
  });

describe('pieces of a report [J12]', () => {
  it('give the same wherever they are cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...REPORTS), places, (report, cuts) => {
        assert.deepEqual(readPieces(cutAt(report, cuts)), readReport(report));
      }),
    );
  });

  it('give the same also where the report is damaged', () => {
    fc.assert(
      fc.property(damaged, places, (report, cuts) => {
        assert.deepEqual(readPieces(cutAt(report, cuts)), readReport(report));
      }),
      { numRuns: 300 },
    );
  });

  it('of many blocks give the same, and what the reports give alone', () => {
    const whole = readReport(LONG);
    const alone = REPORTS.flatMap((report) => readReport(report).cases.map(({ name, status }) => [name, status]));
    assert.deepEqual(
      whole.cases.map(({ name, status }) => [name, status]),
      Array.from({ length: 8 }, () => alone).flat(),
    );
    assert.equal(whole.summary.whole, true);
    fc.assert(
      fc.property(places, (cuts) => {
        assert.deepEqual(readPieces(cutAt(LONG, cuts)), whole);
      }),
      { numRuns: 10 },
    );
  });
});

describe('a report cut off anywhere [J11]', () => {
  for (const [index, report] of REPORTS.entries()) {
    it(`tells only cases that are in it, as they are (${index + 1})`, () => {
      const whole = readReport(report);
      const last = report.trimEnd().length;
      for (let end = 0; end < last; end += 1) {
        const { cases, summary } = readReport(report.slice(0, end));
        assert.equal(summary.whole, false, `cut at ${end}`);
        for (const [at, found] of cases.entries()) {
          const expected = whole.cases[at];
          assert.equal(found.name, expected?.name);
          assert.equal(found.status, expected?.status, `cut at ${end}`);
          // `repeats` grows with its suite, so it is not compared.
          const { repeats } = expected ?? found;
          if (found.closed) assert.deepEqual({ ...found, repeats }, expected);
        }
      }
    });
  }
});
