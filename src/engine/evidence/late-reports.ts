import type { Candidate } from '../model/candidate.ts';
import type { CheckJudged } from '../model/event.ts';
import { findEntry, mayWork } from '../model/queue.ts';
import type { Work } from '../model/work.ts';
import { findBaseTest, testBase } from './suspicion.ts';

/**
 * Reports of a check that had passed arrived after its candidate landed, and tests failed in them. The records of the
 * landed entries name them. If one of the tests is not excused, the head is tested by itself at once.
 */
// SPEC V61
export function concludeLateReports(work: Work, run: Candidate, { check, tests, isWaived, landed = [] }: CheckJudged) {
  for (const entry of landed) {
    // A pull request that was submitted again has another record.
    if (entry.landed === undefined || findEntry(work.queue, entry.prNumber) !== undefined) continue;
    const list = entry.landed.waived?.some((each) => each.check === check) ? 'waived' : 'excused';
    const told = [...(entry.landed[list] ?? []), { check, tests }];
    work.ended.push({ ...entry, landed: { ...entry.landed, [list]: told } });
  }
  if (isWaived || landed.length === 0) return;
  const numbers = run.members.map(({ prNumber }) => `#${prNumber}`).join(', ');
  const names = tests.slice(0, 3).map(({ name }) => name.slice(0, 200));
  const more = tests.length > names.length ? ` and ${tests.length - names.length} more` : '';
  const text = `${check} of ${numbers} had passed and landed when its reports arrived. In them failed: ${names.join(', ')}${more}. ${work.queue.branch} is tested by itself.`;
  work.effects.push({ kind: 'raise_alarm', code: 'LATE_REPORTS', text });
  const { head } = work.queue;
  if (head !== undefined && mayWork(work.queue) && findBaseTest(work.queue, head) === undefined) testBase(work, head);
}
