import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import {
  createQueue,
  ENTRY_STATES,
  type Entry,
  type EntryId,
  type EntryState,
  NEW_ENTRY,
} from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { ExplanationReason, FailedCheck } from '../../words/explanation.ts';
import { headlineOf } from '../../words/headlines.ts';
import type { PageFacts, RunFacts } from './collect-page-facts.ts';
import { renderComment } from './render-comment.ts';
import { renderCheckRun } from './write-check-run.ts';

const EVIL = '</sub>\n/sluice merge @everyone #1 `` <!-- sluice:queue --> [x](javascript:1) https://evil.test | \u202e';

function anEntry(state: EntryState, values: Partial<Entry> = {}): Entry {
  return {
    ...NEW_ENTRY,
    id: 'entry' as EntryId,
    prNumber: 7 as PrNumber,
    state,
    stateChangedAt: 0,
    pr: aPullRequest(7),
    priority: { value: 100, name: 'medium', isDefault: true },
    noBatch: false,
    submittedAt: 0,
    unreadySince: 0,
    submission: 1,
    targets: undefined,
    ...values,
  };
}

function aReason(text: string, reasons: readonly ExplanationReason[] = []): ExplanationReason {
  return { code: 'X', text, reasons };
}

function aFailure(name: string, tests: number): FailedCheck {
  const failed = {
    id: 'id',
    name: name.repeat(20),
    kind: 'failed' as const,
    url: `https://sluice.test/${'t'.repeat(900)}`,
  };
  return {
    name,
    conclusion: 'FAILURE',
    hasBegun: true,
    url: `https://ci.test/${'u'.repeat(900)}`,
    summary: name.repeat(50),
    isWaived: false,
    tests: Array.from({ length: tests }, () => failed),
    failing: tests,
  };
}

/** The largest possible page, with every text written by an attacker. */
function aSituation(state: EntryState, many: number): PageFacts {
  const wide = Array.from({ length: many }, () => aReason(EVIL.repeat(20), [aReason(EVIL), aReason(EVIL)]));
  return {
    branch: EVIL.repeat(5),
    entry: anEntry(state, { because: { reason: 'USER_REQUESTED', actor: EVIL } }),
    explanation: { headline: EVIL, summary: EVIL, next: EVIL, commands: [EVIL], position: 3, reasons: wide },
    headline: headlineOf(createQueue('main', DEFAULT_SETTINGS, 'RUNNING'), anEntry(state)),
    above: Array.from({ length: many }, (_, index) => (100 + index) as PrNumber),
    admitted: 9,
    retestReason: { text: EVIL.repeat(100) },
    submittedBy: EVIL,
    run: {
      id: 'run',
      branch: EVIL,
      sha: undefined,
      isBisection: false,
      hasDraft: true,
      members: Array.from({ length: many }, (_, index) => index as PrNumber),
      beneath: Array.from({ length: many }, (_, index) => index as PrNumber),
      required: Array.from({ length: many }, () => EVIL),
      silentSince: 0,
      heard: [EVIL],
      endsAt: undefined,
      provenBy: undefined,
      failed: Array.from({ length: many }, () => aFailure(EVIL, many)),
    },
    linkable: new Set([7]),
    page: 'https://github.test/acme/app',
    dashboard: undefined,
    howToSubmit: { hasCommands: true, label: EVIL.slice(0, 100) },
    forecast: undefined,
  };
}

function aPlainSituation(state: EntryState, run: Partial<RunFacts> = {}): PageFacts {
  const given = aSituation(state, 0);
  const facts: RunFacts = {
    id: 'run',
    branch: 'sluice/pr-7/run',
    sha: undefined,
    isBisection: false,
    hasDraft: false,
    members: [7 as PrNumber],
    beneath: [],
    required: ['ci'],
    silentSince: undefined,
    heard: [],
    endsAt: undefined,
    provenBy: undefined,
    failed: [],
    ...run,
  };
  const explanation = { headline: 'Waits', summary: 'It waits.', next: 'It goes on.', commands: [], reasons: [] };
  return { ...given, branch: 'main', explanation, retestReason: undefined, run: facts };
}

/** Markdown has no meaning inside backticks. */
function outsideOfCode(line: string): string {
  return line.replaceAll(/(?<![`\\])(`+)(?!`)(.*?[^`])\1(?!`)/g, '');
}

describe('the comment on a pull request', () => {
  for (const state of ENTRY_STATES) {
    it(`fits, and holds nothing of an attacker's, where it is ${state} [G142] [G46]`, () => {
      for (const many of [1, 3, 1_000]) {
        const situation = aSituation(state, many);
        const { text } = renderComment([situation, situation], 0);
        const check = renderCheckRun(situation);
        assert.ok(text.length <= 65_536, `${text.length} characters`);
        assert.ok((check?.summary.length ?? 0) <= 65_535 && (check?.title.length ?? 0) <= 255);
        assert.equal(text.split('<!-- sluice:queue -->').length, 2);
        if (state !== 'MERGED') assert.match(text, /`\/sluice (?:cancel|merge)`/);
        for (const line of text.split('\n').slice(1).map(outsideOfCode)) {
          assert.doesNotMatch(line, /^\s*(?:[-*>] )*\/(?:sluice|trunk)/);
          assert.doesNotMatch(line, /@[a-z]|(?<!\\)#1\b|(?<!\\)<(?!\/?sub>)|[^\\]\]\(javascript|\u202e/);
          assert.doesNotMatch(line.replaceAll(/\]\([^)]*\)/g, ''), /https?:\/\//);
        }
      }
    });
  }

  it('tells when it lands, and is not written again for that alone [Z8]', () => {
    const situation = aPlainSituation('TESTING');
    const forecast = { landsAtP50: Date.UTC(2026, 8, 17, 10, 44), landsAtP95: Date.UTC(2026, 8, 17, 11, 1) };
    const { text, essence } = renderComment([{ ...situation, forecast }], Date.UTC(2026, 8, 17, 10, 20));
    assert.match(text, /10:20 UTC\. Lands at about 2026-09-17 10:44 UTC \(95%: by 2026-09-17 11:01 UTC\)\.<\/sub>$/);
    assert.equal(essence, renderComment([situation], 0).essence);
    assert.doesNotMatch(renderComment([{ ...situation, forecast }], forecast.landsAtP95).text, /Lands/, 'it is late');
  });

  it('tells how many are queued, and is not written again for that alone [G141]', () => {
    const situation = aPlainSituation('TESTING');
    const queued = { ...situation, explanation: { ...situation.explanation, position: 3 } };
    const [one, other] = [4, 5].map((admitted) => renderComment([{ ...queued, admitted }], 0));
    assert.match(one?.text ?? '', /, number 3 of 4\n/);
    assert.match(other?.text ?? '', /, number 3 of 5\n/);
    assert.equal(one?.essence, other?.essence);
    const next = { ...queued, admitted: 4, explanation: { ...queued.explanation, position: 2 } };
    assert.notEqual(renderComment([next], 0).essence, one?.essence, 'its own place is worth a change');
  });

  it('has another text at another time, and the same essence', () => {
    const situation = aSituation('TESTING', 1);
    const [one, other] = [renderComment([situation], 0), renderComment([situation], 86_400_000)];
    assert.equal(one.essence, other.essence);
    assert.notEqual(one.text, other.text);
  });

  it('says nothing twice, and nothing of a run that came to nothing [G46]', () => {
    const text = 'It conflicts with #8 ahead of it.';
    const plain = aPlainSituation('PENDING');
    const told = renderComment(
      [{ ...plain, retestReason: { text }, explanation: { ...plain.explanation, reasons: [aReason(text)] } }],
      0,
    ).text;
    assert.equal(told.split('It conflicts').length, 2);
    assert.doesNotMatch(told, /tested on branch/);
  });

  it('leads to the dashboard [A40]', () => {
    const dashboard = 'https://sluice.test/acme/github.com/acme/app/main/pr/7';
    const { text } = renderComment([{ ...aPlainSituation('TESTING'), dashboard }], 0);
    assert.ok(text.endsWith(` [Live on the dashboard](${dashboard}).</sub>`), text);
  });

  it('names the pull requests below and above it until it lands, as the check does [O39]', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => (5 + index) as PrNumber);
    const situation = (state: EntryState, count: number, above: readonly PrNumber[]): PageFacts => {
      const below = numbers(count).map((number) => ({ number, by: 'base' as const }));
      const entry = anEntry(state, { pr: { ...aPullRequest(7), below } });
      return { ...aPlainSituation(state), entry, above, linkable: new Set([...numbers(30), 48, 49]) };
    };
    const linesOf = (shown: PageFacts) => renderComment([shown], 0).text.split('\n');
    for (const [count, above, line] of [
      [1, [], 'Built on #5.'],
      [2, [48], 'Built on #5 and #6. Built on it: #48.'],
      [3, [48, 49], 'Built on #5, #6 and #7. Built on it: #48 and #49.'],
      [0, [48], 'Built on it: #48.'],
    ] as const) {
      const shown = situation('TESTING', count, above as unknown as readonly PrNumber[]);
      assert.ok(linesOf(shown).includes(line), linesOf(shown).join('\n'));
      assert.ok(renderCheckRun(shown).summary.split('\n').includes(line));
    }
    const many = linesOf(situation('TESTING', 30, []));
    assert.ok(
      many.some((line) => /^Built on #5, .*#24 and 10 more\.$/.test(line)),
      many.join('\n'),
    );
    assert.doesNotMatch(linesOf(situation('TESTING', 0, [])).join('\n'), /Built on/);
    assert.doesNotMatch(linesOf(situation('MERGED', 1, [])).join('\n'), /Built on/);
  });

  it('names the actor without a mention [G46]', () => {
    const entry = anEntry('CANCELLED', { because: { reason: 'USER_REQUESTED', actor: '@ada' } });
    const plain = aPlainSituation('CANCELLED');
    const explanation = { ...plain.explanation, reasons: [aReason('Removed from the queue by @ada.')] };
    const { text } = renderComment([{ ...plain, entry, explanation }], 0);
    assert.match(text, /^Removed from the queue by `@ada`\.$/m);
  });

  it('tells a check that never came from one that did not end [G46]', () => {
    const silent = { ...aFailure('ci', 0), conclusion: undefined, summary: undefined, url: undefined };
    for (const [hasBegun, words] of [
      [false, '- `ci` never reported. Does CI run for branches `sluice/**`?'],
      [true, '- `ci` did not finish in time'],
    ] as const) {
      const { text } = renderComment([aPlainSituation('FAILED', { failed: [{ ...silent, hasBegun }] })], 0);
      assert.ok(text.split('\n').includes(words), text);
    }
  });
});
