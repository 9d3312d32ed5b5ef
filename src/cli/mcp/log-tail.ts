import type { Context } from '../core/context.ts';
import type { BodyOf } from '../core/operations.ts';
import type { Part } from './answer.ts';

/** Kept before the tail, so that a secret at the cut is recognized as a whole. */
const SLACK = 4000;

/** The checks of a test run, and the end of the output of one. */
export async function readLogTail(
  context: Context,
  wanted: BodyOf<'getCandidateLog'>,
  max: number,
): Promise<readonly Part[]> {
  let answer = await context.call('getCandidateLog', wanted);
  let text = answer.text;
  let isCut = false;
  for (let offset = 0; !answer.complete && answer.nextOffset > offset; ) {
    offset = answer.nextOffset;
    answer = await context.call('getCandidateLog', { ...wanted, check: answer.check, offset });
    text += answer.text;
    isCut ||= text.length > max + SLACK;
    text = text.slice(-max - SLACK);
  }
  const { check, checks, complete } = answer;
  const about = { check, complete, checks: checks.map(({ quarantine: _, ...each }) => each) };
  const parts: Part[] = [{ title: 'The checks of the test run, and the one whose output follows:', data: about }];
  if (text === '')
    return [...parts, { title: 'The check printed nothing here. If it has a url, its output is there.', data: '' }];
  return [...parts, { title: 'The end of the output of the check:', data: text, keeps: 'end', max, isCut }];
}
