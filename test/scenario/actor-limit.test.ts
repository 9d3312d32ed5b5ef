import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

describe('a limit for each submitter', () => {
  story('keeps out what is above it, and admits the next in order when one leaves [E97]')`
    with maxEntriesPerActor=2
    submit A B C D by=bot; submit E by=ada → ABE=testing CD=waiting; order A B E C D
    pass A                                 → A=merged C=testing D=waiting
    cancel B                               → D=testing
  `;

  story('keeps out urgent ones too, and nobody else [E97] [O3]')`
    with maxEntriesPerActor=1
    submit A by=bot; submit B urgent by=bot; submit C by=ada; submit D E → B=waiting ACDE=testing
  `;

  story('is that of the first submission, also if others submit it again [E97]')`
    with maxEntriesPerActor=1
    submit A B by=bot   → B=waiting
    submit B high by=ada → B=waiting
    submit A high by=ada; submit C by=ada → C=testing B=waiting
  `;

  story('takes a stack for one [E97]')`
    with maxEntriesPerActor=1 batch=false
    stack A B C
    together A B C by=bot → testing ABC
    submit D by=bot       → D=waiting
    pass ABC              → ABC=merged D=testing
  `;

  story('counts one for each who has a part of a stack [E97]')`
    with maxEntriesPerActor=1
    stack A B; stack C D
    submit A by=bot; submit B by=ada; submit C by=bot; submit D by=eve → AB=testing C=testing D=testing
    submit E by=ada; submit F by=eve                                   → EF=waiting
  `;

  story('lends the lower part the turn of what is ready on it [E97]')`
    with maxEntriesPerActor=1
    stack B C D
    submit A B by=bot   → A=testing B=waiting
    submit D by=ada     → B=waiting
    submit C by=bot     → BCD=testing
  `;

  story('takes no turn of what is not ready itself [E97]')`
    with maxEntriesPerActor=1
    stack B C
    submit A B by=bot; submit C unready by=ada → B=waiting
    ready C                                    → BC=testing
  `;

  story('is the same when it rises, falls or ends [E97]')`
    with maxEntriesPerActor=1
    submit A B C by=bot     → BC=waiting
    set maxEntriesPerActor=2 → B=testing C=waiting
    set maxEntriesPerActor=1 → AB=testing
    pass A                   → C=waiting
    set maxEntriesPerActor=0 → C=testing
  `;
});
