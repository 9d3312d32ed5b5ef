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

  story('is tested on its part that is under test already, and never beside it [O31] [O34]')`
    with mode=PARALLEL
    stack A B C
    submit A[x] D[y]  → testing A D
    together B[y] C[] → testing A D A+D+BC; ABC=testing
    pass A+D+BC A D   → ABCD=merged
  `;

  story('keeps its upper part in place while what is below it is away [O35]')`
    with concurrency=1
    stack B C
    submit A B C D → A=testing BCD=pending; order A B C D
    cancel B       → C=waiting; why C=STACKED_PR_BELOW_LEFT; cause C=B; order A D C
    pass A         → D=testing
    submit B       → BC=pending; order D B C
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
