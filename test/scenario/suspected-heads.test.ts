import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

const ON = { honorQuarantine: 'ON' } as const;

describe('a head that passed by itself', () => {
  story('the head is trusted for an hour, and is suspected again from then on [V34]')`
    with concurrency=8
    submit A B C D E F G; fail A B; pass HEAD
    wait 59m; wait 59999ms; fail C D → ABCD=failed; testing E E+F E+F+G
    wait 1ms; fail E F               → EF=failed; testing G HEAD
  `;
});

describe('a landing by a waiver', () => {
  story(
    'a landing by a waiver keeps the removals for the waived check as evidence against the new head [V47] [V10]',
    ON,
  )`
    submit A B C D; fail A; deny A → A=failed
    fail B; waive B                → B=merged
    fail C; deny C                 → C=failed; testing D HEAD
  `;

  story('a landing by a waiver keeps the suspicion of a head that failed the waived check [V47] [V35]', ON)`
    submit A B; fail A; deny A; fail B; deny B; fail HEAD; deny HEAD → AB=pending; alarm RED_TARGET
    resume; fail A; waive A → A=merged
    fail B; deny B          → B=held; testing HEAD
  `;

  story('a landing by a waiver does not prove the new head, which is tested before an entry is removed [V47] [K13]', {
    ...ON,
    optimizationMode: 'ADAPTIVE',
    concurrency: 1,
  })`
    submit A; fail A; waive A                  → A=merged
    submit B; fail B; deny B; fail ~B; deny ~B → B=held; testing HEAD
    pass HEAD                                  → B=failed
  `;
});
