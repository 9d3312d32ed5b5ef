import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginSearch, nextProbe } from '../../src/engine/evidence/breakage.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { story } from '../worlds/engine/story.ts';

/** C to F have landed, each as its own head, and F is red: A and B failed on it, and then it failed by itself. */
const RED = `
  submit C; pass C; submit D; pass D; submit E; pass E; submit F; pass F
  submit A B; fail A; fail B
  fail HEAD → alarm RED_TARGET; target M+C+D+E+F
`;

describe('the commit that broke the branch', () => {
  story('is searched among former heads, one at a time, and all that waits stays [V86]')`
    ${RED}
    line         → testing HEAD~M
    pass HEAD~M  → testing HEAD~D; broke open
    fail HEAD~D  → testing HEAD~C
    pass HEAD~C  → broke D; testing nothing; AB=pending
  `;

  story('is searched first between the head and the newest commit that landed as tested [V87]')`
    ${RED}
    line tested=E → testing HEAD~E
    pass HEAD~E   → broke F; testing nothing
  `;

  story('is searched further back once a commit fails that had landed as tested: the oldest comes next [V87]')`
    ${RED}
    line tested=E → testing HEAD~E
    fail HEAD~E   → testing HEAD~M
    pass HEAD~M   → testing HEAD~C
    pass HEAD~C   → testing HEAD~D
    fail HEAD~D   → broke D
  `;

  story('is none of them if the oldest fails, too [V88]')`
    ${RED}
    line tested=E; fail HEAD~E HEAD~M → broke outside; testing nothing
  `;

  story('is not one that fails another check [V87]')`
    sources protection=ci,lint; submit C; pass C; pass C by=lint; submit A B; fail A; fail B; fail HEAD; pass HEAD by=lint
    line                → testing HEAD~M
    fail HEAD~M by=lint → broke open
    pass HEAD~M         → broke C
  `;

  story('is told at once by a former head that failed before and only waits for its other checks [V86]')`
    with confirmFailures=AUTO
    sources protection=ci,lint; submit A B; fail A; foreign X; fail HEAD; fail B
    fail HEAD; line → broke outside
  `;

  story('is not searched any more when the queue goes on [V86]')`
    ${RED}
    line   → testing HEAD~M
    resume → testing A A+B
  `;

  story('stays unknown if a former head cannot be tested, and a person may ask again [V90]')`
    ${RED}
    line; unbuildable HEAD~M   → broke unknown; testing nothing; AB=pending
    find                       → ignored
    find again; line tested=E  → testing HEAD~E; broke open
    find again                 → testing nothing
    line tested=E; pass HEAD~E → broke F
  `;

  story('is not asked for while the head is not known to fail [V90]')`
    submit A; find → refused QUEUE_NOT_HELD
  `;

  story('is not searched on a branch that moved while it was read [V87]')`
    ${RED}
    foreign X; line → testing A A+B
  `;

  story('stays found while the head is tested again [V88]')`
    ${RED}
    line tested=E; pass HEAD~E; wait 10m → testing HEAD; broke F
    fail HEAD                            → broke F
    wait 20m; pass HEAD                  → broke open; AB=testing
  `;

  it('is found among 64 landings by at most 7 runs, whichever it is and whichever landed as tested [V87]', () => {
    for (let tested = -1; tested <= 64; tested += 1)
      for (let culprit = 0; culprit <= 64; culprit += 1) assert.ok(countRuns(culprit, tested) <= 7);
  });
});

/** Commit 0 is older than 64 landings. Each commit from the culprit on fails; if it is 0, all do. */
function countRuns(culprit: number, tested: number): number {
  const steps = Array.from({ length: 65 }, (_, index) => ({
    sha: `${index}` as Sha,
    ...(index === tested && { wasTested: true as const }),
  }));
  let search = beginSearch(steps);
  let runs = 0;
  for (let probe = nextProbe(search); probe !== undefined; probe = nextProbe(search)) {
    runs += 1;
    const isFailed = Number(search.line[probe]?.sha) >= culprit;
    search = { ...search, ...(isFailed ? { failed: probe } : { passed: probe }) };
  }
  const oldest = Number(search.line[0]?.sha);
  assert.equal(search.line[search.failed]?.sha, `${Math.max(culprit, oldest)}`);
  return runs;
}
