import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const ADAPTIVE = { optimizationMode: 'ADAPTIVE', concurrency: 4 } as const;
const ONE = { ...ADAPTIVE, concurrency: 1 };
/** H and I are cleared ahead of their turn. The others land, and those submitted meanwhile are untested. */
const CLEARED = 'together A B C D E F G; submit H; submit I; pass ~H ~I; pause; pass ABCDEFG';

describe('cleared entries', () => {
  story('cleared entries ride along with as many untested ones [K20]', { ...ADAPTIVE, runCost: 1 })`
    ${CLEARED} → HI=pending
    submit J K; resume → ABCDEFG=merged; testing HIJK
  `;

  story('cleared entries go without the untested ones if more are cleared than untested [K20]', {
    ...ADAPTIVE,
    runCost: 1,
  })`
    ${CLEARED} → HI=pending
    submit J; resume → ABCDEFG=merged; testing HI
  `;

  story('cleared entries go alone if the expected loss is worth a run [K20]', { ...ADAPTIVE, runCost: 0.1 })`
    ${CLEARED} → HI=pending
    submit J K; resume → ABCDEFG=merged; testing HI HI+JK
  `;
});

describe('a failed group of a queue in which almost nothing fails', () => {
  story('a failed group is repeated once as a whole, because a flake is likelier than a culprit [K5]', ONE)`
    together A B C D E F G H I J K L M N O P Q R S T → testing ABCDEFG
    pass ABCDEFG → testing HIJKLMNOPQRST
    pass HIJKLMNOPQRST; together U V W; fail UVW → testing ~UVW
    fail ~UVW → testing ~U
  `;
});

describe('a hold of an ADAPTIVE queue', () => {
  story('an ADAPTIVE queue that holds searches for no culprit among entries that fail meanwhile [V16] [K7]', {
    ...ADAPTIVE,
    runCost: 0.25,
  })`
    submit A; submit B; fail A → testing B ~A HEAD
    fail HEAD                  → A=pending; alarm RED_TARGET
    fail B                     → B=held; candidates B=failed
    foreign Fix                → testing AB
  `;
});

describe('confirmations', () => {
  story('an entry is removed after more failures the more flakes the queue has seen [K10] [K3] [V70]', ONE)`
    seasoned; submit A; fail A; pass ~A → A=merged
    submit B; fail B ~B                 → B=held; testing ~B
    fail ~B                             → B=failed
    submit C; fail C; pass ~C           → C=merged
    submit D; fail D; pass ~D           → D=merged
    submit E; fail E ~E ~E              → E=held; testing ~E
    fail ~E                             → E=failed
  `;
});

describe('results of a search in prefixes', () => {
  story('a failure that turns out to be a flake returns the members behind it to the line [K8]', ONE)`
    together A B C D; fail ABCD ~AB ~A; pass HEAD → testing ~A
    pass ~A                                       → A=merged; testing BCD
  `;

  story('a failed prefix ends the longer runs [K8]', ADAPTIVE)`
    with runCost=0.5
    seasoned; together A B C D; fail ABCD → testing ~AB ~A ~ABC
    fail ~AB                              → testing ~A
  `;

  it('a failed prefix whose check runs again is no failure that accuses [K10] [V26]', () => {
    const told = play(ONE)`
      seasoned; submit A; report A FAILURE started=-5m; deny ~A started=-5m → testing ~A
    `;
    const first = told.candidates().find(({ state }) => state === 'failed');
    assert.ok(first !== undefined);
    told.reportCheck(first.number, { status: 'IN_PROGRESS', startedAt: told.now - 60_000 });
    told.play('fail ~A → A=held; testing ~A');
    told.reportCheck(first.number, { conclusion: 'SUCCESS', startedAt: told.now - 60_000 });
    told.play('→ A=merged');
  });
});

describe('a slow run', () => {
  story('a run is slow after four times the duration of others [K18]', ADAPTIVE)`
    submit A; wait 10m; pass A; submit B; submit C; wait 39m; wait 59999ms → testing B; C=pending
    wait 1ms → testing C ~B
  `;

  story('no run is slow within a minute [K18]', ADAPTIVE)`
    submit A; wait 1000ms; pass A; submit B; submit C; wait 59999ms → testing B; C=pending
    wait 1ms → testing C ~B
  `;

  story('a run on top of an open one is not slow [K18]', { ...ADAPTIVE, concurrency: 2, runCost: 0.25 })`
    submit A; wait 10m; pass A; submit B; submit C; submit D → testing B B+C; D=pending
    wait 35m; restart B; wait 6m                             → testing B B+C
  `;

  story('a run is not slow while no entry that waits overlaps with it [K18]', { ...ADAPTIVE, mode: 'PARALLEL' })`
    with concurrency=2
    submit A[x]; wait 10m; pass A; submit B[x]; submit C[y]; submit D[y] → testing B C; D=pending
    wait 45m                                                             → testing B ~C
  `;

  story('a run that is being landed by another is not slow [K18] [L7]', { ...ADAPTIVE, concurrency: 2, runCost: 0.25 })`
    submit A; wait 10m; pass A; submit B; submit C; submit D; hold landings; pass B+C → BC=passed
    wait 45m         → candidates B=testing B+C=passed
    release landings → BC=merged
  `;
});

describe('slots and groups', () => {
  story('an urgent entry takes the slot of the youngest search run [K15]', ADAPTIVE)`
    with concurrency=2
    seasoned; together A B C D; fail ABCD → testing ~AB ~A
    submit E urgent                       → testing E ~AB
  `;

  story('entries that different searches cleared are no tree that has passed [K16]', { ...ADAPTIVE, runCost: 0.25 })`
    together A B C D E F G; submit H; submit I; pass ~H ~I → HI=pending
    fail ABCDEFG                                           → H=merged; target M+H
  `;

  story('a search gets a second run only if that is worth one [K5]', ADAPTIVE)`
    with runCost=4
    seasoned; together A B C D; fail ABCD → testing ~AB
  `;

  story('a group in a lane is stacked only if all ahead of it is likely enough to pass [K17]', ADAPTIVE)`
    with mode=PARALLEL runCost=4
    together A[x] B[x] C[x] D[x] E[x] F[x] G[x] → testing ABCDEFG
    together H[x] I[x] J[x] K[x] L[x] M[x] N[x] → testing ABCDEFG ABCDEFG+HIJKLMN
    submit O[x]                                 → O=pending
  `;

  story('a group in a lane holds entries of one priority above medium [K17] [K15]', ADAPTIVE)`
    with mode=PARALLEL runCost=4
    pause; submit A[x] high; submit B[x]; resume → testing A A+B
  `;
});
