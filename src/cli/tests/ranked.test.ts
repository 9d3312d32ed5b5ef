import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { EXAMPLE_LISTED } from '../../contract/test-details.ts';
import type { AnswerOf } from '../core/operations.ts';
import { widthOf } from '../core/text-width.ts';
import { formatCost } from './cost.ts';
import { formatRanked } from './ranked.ts';

type Listed = AnswerOf<'listTests'>['tests'][number];
type Costs = AnswerOf<'costOfFlakes'>;

const LISTED = EXAMPLE_LISTED as unknown as Listed;
const { last_failure_at: _, average_duration_ms: __, ...OTHER } = { ...LISTED, name: 'never ran', codeowners: [] };
const NOTHING = { test_runs: 0, entries_removed: 0, entries_retested: 0, hours_waited: 0, ci_minutes: 0 };
const COST = { test_runs: 9, entries_removed: 4, entries_retested: 11, hours_waited: 14.2, ci_minutes: 80 };
const COSTS: Costs = {
  total: COST,
  tests: [
    {
      id: LISTED.id,
      html_url: '',
      name: 'retries\u001b[31m',
      status: 'FLAKY',
      codeowners: [],
      quarantined: false,
      ...COST,
    },
  ],
  owners: [{ owner: '@acme/network', ...COST }],
  saved_by_honoring: { ...COST, hours_waited: 2 },
  advice: { test_ids: [LISTED.id], ...COST, text: 'Quarantining this test would have saved 14 h of waiting.' },
};

function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text).split('\n');
}

describe('the list of tests in a terminal', () => {
  it('fits the terminal, and shows days as bars where there is room [F65]', () => {
    process.env['LC_ALL'] = 'C.UTF-8';
    for (const width of [40, 80, 120, 160, 200]) {
      const lines = linesOf(formatRanked([LISTED, OTHER], width));
      const widest = Math.max(...lines.map(widthOf));
      assert.ok(widest <= Math.max(width, 46), `${widest} of ${width}`);
      assert.equal(
        lines.some((line) => line.includes('▁▁▂▁▁▂')),
        width >= 160,
        `${width}`,
      );
      assert.equal(
        lines.some((line) => line.includes('@acme')),
        width >= 120,
        `${width}`,
      );
    }
    process.env['LC_ALL'] = 'C';
    assert.doesNotMatch(formatRanked([LISTED], 200), /▁/);
  });

  it('has all columns but the bars in a pipe, between tabs [F65]', () => {
    const [first, second] = linesOf(formatRanked([LISTED, OTHER], undefined));
    const time = '2026-09-17T09:58:40.000Z';
    const name = 'retries on a closed connection (test/connection.test.ts)';
    assert.deepEqual(first?.split('\t'), [
      ...['FLAKY', '9', '12', '3.6%', '1.5 s', time, '-', '@acme/network', LISTED.id, name],
    ]);
    assert.deepEqual(second?.split('\t').slice(4, 8), ['-', '-', '-', '-']);
    assert.equal(formatRanked([], undefined), 'No test fits.\n');
  });
});

describe('the cost of flakes in a terminal', () => {
  it('says what it was, by test and owner, and what would have saved it [F69]', () => {
    const text = stripVTControlCharacters(formatCost(COSTS, 80));
    const sum = '9 test runs failed in flaky tests only: removed 4 and delayed 11 pull requests.';
    assert.ok(text.replaceAll('\n', ' ').includes(`${sum} Cost: 14 h of waiting, 80 min of CI.`), text);
    assert.match(text, /FLAKY +4 +11 +14 h +80 min {2}retries/);
    assert.match(text, /@acme\/network/);
    assert.match(text, /With honorQuarantine ON: 2.0 h of waiting, 80 min of CI saved\./);
    assert.match(text, /Quarantining this test would have saved 14 h/);
    for (const width of [40, 80]) assert.ok(linesOf(formatCost(COSTS, width)).every((line) => widthOf(line) <= width));
  });

  it('has one line a test in a pipe, and says so if flakes cost nothing', () => {
    assert.equal(formatCost(COSTS, undefined), 'FLAKY\t4\t11\t14 h\t80 min\tretries [31m\n');
    const nothing = { total: NOTHING, tests: [], owners: [], saved_by_honoring: NOTHING };
    assert.equal(formatCost(nothing, 80), 'No test run of a queue failed in flaky tests only.\n');
  });
});
