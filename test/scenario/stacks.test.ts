import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

describe('a stack', () => {
  story('waits for what is below it, and joins the queue behind that [O30]')`
    stack A B C
    submit C B → BC=waiting; testing nothing
    submit A   → ABC=testing; order A B C
  `;

  story('is tested whole by one run of its tip, whatever the size of groups [O37]')`
    with batch=false
    stack A B C D E; together A B C D E → testing ABCDE; runs ABCDE
    pass ABCDE                          → ABCDE=merged; runs ABCDE; target M+A+B+C+D+E
  `;

  for (const settings of [
    'batch=true batchingMinSize=2',
    'batch=true batchingMinSize=5',
    'optimizationMode=ADAPTIVE',
    'mode=PARALLEL',
    'mode=PARALLEL batch=true',
  ]) {
    story(`costs one run with ${settings} if it is sound [O37]`)`
      with ${settings}
      stack A B C D E; together A[x] B[x] C[y] D[x] E[z] → testing ABCDE
      pass ABCDE                                         → ABCDE=merged; runs ABCDE
    `;
  }

  for (const confirmFailures of ['NEVER', 'AUTO']) {
    for (const settings of ['batch=false', 'batch=true batchingMinSize=5', 'mode=PARALLEL']) {
      story(`costs five runs with ${settings} confirmFailures=${confirmFailures} if the third is broken [O37] [O38]`)`
        with ${settings} confirmFailures=${confirmFailures}
        seasoned; stack A B C D E; together A[x] B[x] C[x] D[x] E[x]
        fail ABCDE            → testing ~ABC ~ABC+DE
        fail ~ABC             → testing ~AB ~AB+C
        pass ~AB; fail ~AB+C  → AB=merged C=failed DE=waiting; runs ABCDE ~ABC ~ABC+DE ~AB ~AB+C
      `;
    }
    story(
      `costs five runs at most with ADAPTIVE confirmFailures=${confirmFailures} if the third is broken [O37] [O38]`,
    )`
      with optimizationMode=ADAPTIVE confirmFailures=${confirmFailures}
      seasoned; stack A B C D E; together A B C D E
      fail ABCDE           → testing ~AB ~ABC ~A ~ABCD
      pass ~AB; fail ~AB+C → AB=merged C=failed DE=waiting; runs ABCDE ~AB ~ABC ~A ~ABCD
    `;
  }

  for (const confirmFailures of ['NEVER', 'AUTO']) {
    story(
      `is not tested whole again with confirmFailures=${confirmFailures} where sets that failed are skipped [B7] [O31]`,
    )`
      with optimizationMode=BISECTION_SKIP_REDUNDANT_TESTS batch=true batchingMinSize=5 confirmFailures=${confirmFailures}
      seasoned; stack A B C D E; together A B C D E
      fail ABCDE            → testing ~ABC
      fail ~ABC             → testing ~AB ~AB+C
      pass ~AB; fail ~AB+C  → AB=merged C=failed DE=waiting; runs ABCDE ~ABC ~AB ~AB+C
    `;
  }

  story('costs two runs more on a head that never passed: its test, and the repetition of the failure [V66] [V73]')`
    with batch=false confirmFailures=AUTO
    stack A B C D E; together A[x] B[x] C[x] D[x] E[x]
    fail ABCDE tests=t                      → testing ~ABC ~ABC+DE HEAD
    pass HEAD; fail ~ABC tests=t; pass ~AB  → testing ~AB+C
    fail ~AB+C tests=t                      → testing ~AB+C
    fail ~AB+C tests=t                      → AB=merged C=failed DE=waiting; runs ABCDE HEAD ~ABC ~ABC+DE ~AB ~AB+C ~AB+C
  `;

  story('goes on with its upper part where that caused the failure, and sets that failed are skipped [B7]')`
    with optimizationMode=BISECTION_SKIP_REDUNDANT_TESTS batch=true batchingMinSize=5
    stack A B C D E; together A B C D E; fail ABCDE → testing ~ABC
    pass ~ABC                                       → ABC=merged; testing ~ABC+D
    fail ~ABC+D                                     → D=failed E=waiting
  `;

  story('lands what a search cleared by the run that cleared it, also where groups have one member [O37]')`
    with batch=false concurrency=1
    stack A B C; together A B C → testing ABC
    fail ABC                    → testing ~AB
    pass ~AB; fail ~AB+C        → AB=merged C=failed; runs ABC ~AB ~AB+C
  `;

  story('is tested on its part that is under test already, and never beside it [O31] [O34]')`
    with mode=PARALLEL
    stack A B C
    submit A[x] D[y]  → testing A D
    together B[y] C[] → testing A D A+D+BC; ABC=testing
    pass A+D+BC A D   → ABCD=merged
  `;

  story('is beside nothing when the targets of its lowest member become none [O34] [C24]')`
    with mode=PARALLEL
    stack A B; together A[x] B[y]; submit C[z] → testing AB C
    targets A[]                                → testing AB AB+C
  `;

  story('keeps its upper part in place while what is below it is away [O35]')`
    with concurrency=1
    stack B C
    submit A B C D → A=testing BCD=pending; order A B C D
    cancel B       → C=waiting; why C=STACKED_PR_BELOW_LEFT; cause C=B; order A D C
    pass A         → D=testing
    submit B       → BC=pending; order D B C
  `;

  story('knows nothing of the former head of a member that is pushed to while it waits [O35]')`
    with optimizationMode=ADAPTIVE confirmFailures=NEVER
    stack A B; together A B C; fail ABC
    pause; pass ~AB; cancel C; cancel A → B=waiting
    push B; submit A                    → B=waiting
    resume                              → testing AB; runs ABC ~A ~AB AB
  `;

  story('lands its lower part when a member is broken, and waits for that [O35] [O38]')`
    with batch=true batchingMinSize=5
    stack A B C D E; together A B C D E → testing ABCDE
    fail ABCDE                          → testing ~ABC ~ABC+DE
    fail ~ABC                           → testing ~AB ~AB+C
    pass ~AB; fail ~AB+C                → AB=merged C=failed DE=waiting; why D=STACKED_PR_BELOW_LEFT; target M+A+B
    submit C; wait 5m; pass CDE         → CDE=merged
  `;

  story('leaves a search with the member that is tested alone, and waits for that [O38]')`
    with batch=true batchingMinSize=5 confirmFailures=AUTO
    stack A B C D E; together A B C D E → testing ABCDE
    fail ABCDE tests=t; fail ~ABC tests=t; pass ~AB
    fail ~AB+C tests=t                  → AB=merged DE=pending
    pass ~AB+C                          → C=merged; testing DE HEAD; target M+A+B+C
    pass DE                             → DE=merged
  `;

  story('is tested again when its lowest member returns, though the others were cleared with its former head [O35]')`
    with optimizationMode=ADAPTIVE confirmFailures=NEVER
    stack A B C; together A B C D; fail ABCD
    pause; pass ~ABC; cancel D; push A → BC=waiting; testing nothing
    submit A; resume                   → testing ABC
  `;

  story('is not given up while it waits for one that is in the line [O36] [O4]')`
    with landingMode=API mergeMethod=SQUASH notReadyTimeoutHours=1 testingTimeoutMinutes=0
    stack A B C; submit A B C → A=testing BC=waiting
    wait 30h                  → A=testing BC=waiting
    pass A                    → A=merged B=testing
  `;

  story('begins to wait anew when what is below it leaves [O36]')`
    with landingMode=API mergeMethod=SQUASH notReadyTimeoutHours=1 testingTimeoutMinutes=0
    stack A B C; submit A B C; wait 30h; fail A → A=failed BC=waiting
    wait 59m                                    → BC=waiting
    wait 2m                                     → B=cancelled
  `;

  for (const optimizationMode of ['OFF', 'ADAPTIVE']) {
    story(`goes on one by one with ${optimizationMode} when a merge API squashes from now on [O30] [O31]`)`
      with landingMode=API mergeMethod=MERGE_COMMIT concurrency=1 optimizationMode=${optimizationMode}
      stack A B; submit C A B           → C=testing AB=pending
      set mergeMethod=SQUASH; pass C    → testing A
      pass A; pass B                    → AB=merged
    `;
  }

  story('leaves a search in which what is below it had passed, when that is set back [O31] [O38]')`
    with optimizationMode=ADAPTIVE confirmFailures=AUTO concurrency=3
    stack A B; together A C B D; fail ACBD; pass HEAD
    hold landers; pass ~AC → testing ~AC+B
    foreign X; fail AC     → testing ~AC+B ~AC ~A HEAD
    fail HEAD              → testing nothing; ABCD=pending
    foreign Y              → testing ACB ~D
  `;

  story('waits at its place for a review that was lost with its base, and lands with it [L61]')`
    with concurrency=1
    stack A B C; together A B C; hold landings; submit D E; pass ABC
    refuse B reviewRequired → A=testing BC=waiting; why B=GITHUB_API_BRANCH_PROTECTION_UNMET; why C=STACKED_PR_BELOW_LEFT
    release landings; pass A → A=merged BC=waiting; testing D
    ready B                  → BC=pending; order D B C E
    pass D; pass BC          → BC=merged
  `;

  story('has no priority below that of what is on it, and is never urgent above another [O33]')`
    pause; stack A B C; submit A low; submit D medium; submit B C urgent; resume
      → order A B C D
  `;

  story('is refused where it depends on itself [O32]')`
    stack A B C A; submit B C
    submit A → refused VALIDATION_FAILED; order B C
  `;

  story('is given up when what is below it does not come [O36]')`
    stack A B
    submit B → B=waiting
    wait 23h → B=waiting
    wait 2h  → B=cancelled; why B=NOT_READY_TIMEOUT_EXPIRED; cause B=A
  `;
});
