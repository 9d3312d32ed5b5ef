import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

const ON = { honorQuarantine: 'ON' } as const;

describe('waivers that are withdrawn', () => {
  story('a queue that goes to SHADOW withdraws waivers that have decided nothing [V45]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; waive A  → A=testing
    set honorQuarantine=SHADOW → A=failed
  `;

  story('a held failure loses the waivers of its other checks [V45] [V9]', ON)`
    with requiredStatuses=["ci","lint"] pendingFailureDepth=1
    submit A B; fail A; waive A; report A ERROR by=lint started=-5m → A=held
    set honorQuarantine=OFF; report A SUCCESS by=lint started=-1m   → A=held; target M
  `;
});

describe('repetitions', () => {
  story('a restart of the server forgets no repetition [V56] [V25]', ON)`
    submit A; fail A; repeat A; interrupt A; fail A; repeat A → A=testing
    fail A; repeat A                                          → A=failed
  `;
});
