import { describe } from 'node:test';
import { formGroups } from '../../src/engine/line/batch.ts';
import type { Strategy } from '../../src/engine/model/strategy.ts';
import { story } from '../worlds/engine/story.ts';

/** Groups of two, on top of everything. */
const PAIRS: Strategy = {
  propose: (queue, at) =>
    formGroups(queue, at, undefined, { most: 2, isFull: ({ length }) => length === 2, mayJoin: () => true }).map(
      (group) => ({ kind: 'line', group }),
    ),
  wakeAt: () => undefined,
};

const NOTHING: Strategy = { propose: () => [], wakeAt: () => undefined };

describe('a strategy chooses what to test next', () => {
  story('may group where the settings would not; blame and landing stay the same [I5]', {}, PAIRS)`
    with batchingMaxWaitTimeMinutes=0
    together A B C → testing AB AB+C
    pass AB        → AB=merged
    fail C         → C=failed; target M+A+B
  `;

  story(
    'a strategy cannot start a run on a failed one of an ADAPTIVE queue [I5] [K7]',
    { optimizationMode: 'ADAPTIVE' },
    PAIRS,
  )`
    seasoned; together A B C D; fail AB+CD → AB=testing CD=held
    submit E                               → E=pending; testing AB
    pass AB                                → AB=merged; testing E
  `;

  story('cannot make anything pass, fail or land by testing nothing [I5]', {}, NOTHING)`
    submit A B → AB=pending; target M; candidates nothing
    wait 100h  → AB=pending
  `;
});
