import assert from 'node:assert/strict';
import { findingOf } from '../../../src/engine/evidence/breakage.ts';
import { entriesInOrder } from '../../../src/engine/model/roster.ts';
import { nextWakeAt } from '../../../src/engine/wake.ts';
import { valuesOf } from '../../../src/lib/int-map.ts';
import type { Scenario } from './scenario.ts';
import { letter, numberOf, pairsOf, parseDuration, STATES, shaToHistory } from './words.ts';

type Expectation = (told: Scenario, words: readonly string[]) => void;

/** Compares all of a list with the words; `nothing` stands for the empty list. */
function list(read: (told: Scenario) => readonly string[]): Expectation {
  return (told, words) => assert.deepEqual(read(told), words[0] === 'nothing' ? [] : words);
}

/** Compares one value with the first word. */
function one(read: (told: Scenario) => string | undefined): Expectation {
  return (told, words) => assert.equal(read(told), words[0]);
}

/** Compares `A=x B=y` with what is read for A and for B. */
function each(read: (told: Scenario, name: string) => string | undefined): Expectation {
  return (told, words) => {
    for (const [name, value] of pairsOf(words)) assert.equal(read(told, name), value, name);
  };
}

/** Compares the last items of a list about the entry in the first word with the other words. */
function tail(read: (told: Scenario, name: string) => readonly string[]): Expectation {
  return (told, [name = '', ...words]) => assert.deepEqual(read(told, name).slice(-words.length), words);
}

export const EXPECTATIONS: { readonly [verb: string]: Expectation } = {
  testing: list((told) => told.underTest()),
  candidates: list((told) => told.candidates().map((candidate) => `${told.label(candidate)}=${candidate.state}`)),
  runs: list((told) => told.runs),
  alarm: list((told) => told.alarms),
  over: list((told) => told.endedAlarms),
  asks: list((told) => told.laneQuestions.splice(0)),
  order: list((told) => entriesInOrder(told.queue).map(({ prNumber }) => letter(prNumber))),
  /** `aside C=A`: C is set aside because of A. */
  aside: list((told) =>
    [...valuesOf(told.queue.entries)].flatMap(({ prNumber, place }) =>
      place.kind === 'aside' ? `${letter(prNumber)}=${letter(place.behind)}` : [],
    ),
  ),
  target: one((told) => told.branch.history.join('+')),
  /** The commit that broke the branch: a letter, `outside`, or `open` while it is not known. */
  broke: one(({ queue: { hold } }) => {
    const found = hold === undefined ? undefined : findingOf(hold);
    if (found === undefined) return hold?.breakage?.isGivenUp ? 'unknown' : 'open';
    return found.culprit === undefined ? 'outside' : shaToHistory(found.culprit.sha).at(-1);
  }),
  queue: one((told) => told.queue.state),
  refused: one(({ last }) => (last?.outcome.kind === 'refused' ? last.outcome.code : undefined)),
  ignored: (told) => assert.equal(told.last?.outcome.kind, 'ignored'),
  states: (told, words) => {
    for (const [names, state] of pairsOf(words)) {
      for (const name of names) assert.equal(told.stateOf(name), STATES[state] ?? state, name);
    }
  },
  why: each((told, name) => told.lastOf(name)?.because.reason),
  checks: each((told, name) => told.lastOf(name)?.because.checks?.join()),
  /** `cause C=B`: B is named in the last transition of C. */
  cause: each((told, name) => {
    const { prNumber } = told.lastOf(name)?.because ?? {};
    return prNumber === undefined ? 'none' : letter(prNumber);
  }),
  /** The kind of the landing and the entries it was composed with. */
  proof: each((told, name) => {
    const landed = told.ended.get(numberOf(name))?.landed;
    return [landed?.kind ?? 'none', ...(landed?.composedWith ?? []).map(letter)].join('+');
  }),
  trail: tail((told, name) => told.trailOf(name).map(({ because }) => because.reason)),
  path: (told, [name = '', ...states]) =>
    assert.deepEqual(
      told
        .trailOf(name)
        .map(({ to }) => to)
        .slice(-states.length),
      states.map((state) => STATES[state]),
    ),
  wake: (told, [duration = '']) => {
    const wakeAt = nextWakeAt(told.queue, told.now, told.strategy);
    const expected = duration === 'never' ? undefined : parseDuration(duration);
    assert.equal(wakeAt === undefined ? undefined : wakeAt - told.now, expected);
  },
};
