import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

describe('a check that runs again', () => {
  story('a check that runs again gets its full time, and the others get no more [V23]')`
    with testingTimeoutMinutes=60 requiredStatuses=["ci","lint"]
    submit A; wait 30m; report A RUNNING started=-5m; report A RUNNING started=0m → wake 30m
    wait 30m → A=failed; why A=TEST_RUN_TIMEOUT; checks A=ci,lint
  `;

  story('a run on a failure whose check runs again goes on [V26] [K7]', {
    optimizationMode: 'ADAPTIVE',
    mode: 'PARALLEL',
    runCost: 0.25,
  })`
    seasoned; submit A[x,y]; submit B[x]; submit C[y] → testing A A+B A+C
    pause; pass A+B; report A FAILURE started=-5m; report A RUNNING started=-1m → AB=passed C=testing
    cancel B                                          → candidates A=failed A+C=testing
    resume                                            → testing A A+C
  `;

  story('a part of a search whose check runs again is not to blame [V26] [B6]', { batch: true, batchingMinSize: 2 })`
    together A B; fail AB; report ~A+B FAILURE started=-5m; pause; report ~A+B RUNNING started=-1m
    pass ~A                                  → A=pending B=held
    resume                                   → A=merged B=testing
    report ~A+B SUCCESS started=-1m          → B=merged
  `;
});
