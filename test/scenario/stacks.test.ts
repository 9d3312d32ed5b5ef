import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

describe('a stack', () => {
  story('waits for what is below it, and joins the queue behind that [O30]')`
    stack A B C
    submit C B                 → BC=unready; testing nothing
    submit A                   → ABC=testing; order A B C
  `;

  story('is tested whole by one run of its tip, whatever the size of groups [O37]')`
    with batch=false
    stack A B C D E; pause; submit A B C D E; resume → testing ABCDE; runs ABCDE
    pass ABCDE                                         → ABCDE=merged; runs ABCDE; target M+A+B+C+D+E
  `;

  story('is tested on the part that is under test already [O31] [O37]')`
    stack A B C
    submit A → testing A
    submit B C → testing A A+B A+B+C
  `;
});
