import { findQueue, type QueueRef } from '../../app/core/find-queue.ts';
import { type Answer, isRefusal } from '../../app/core/refusal.ts';
import type { EntryView } from '../../app/queue/entry-view.ts';
import type { BulkResults } from '../../contract/bulk.ts';
import { ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { PrNumber } from '../../engine/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import { toProblem } from '../core/error-response.ts';
import { prNumber } from '../core/parse.ts';
import type { RequestContext } from '../core/route.ts';

interface GivenPr {
  readonly number: number | string;
}

interface OneOrSeveral<Pr extends GivenPr> {
  readonly pr?: Pr;
  readonly prs?: readonly (number | string | Pr)[];
}

type Act<Pr extends GivenPr> = (of: Omit<Pr, 'number'> & { readonly prNumber: PrNumber }) => Answer<EntryView>;

/** Acts on the pull request of the body, or on each of several: in their order, so that they are queued in it. */
// SPEC E32
export async function actOnEach<Pr extends GivenPr>(
  { app, caller }: RequestContext,
  body: QueueRef & OneOrSeveral<Pr>,
  act: Act<Pr>,
): Answer<EntryView | BulkResults> {
  const { pr, prs = [] } = body;
  if (pr !== undefined) return act(named(pr));
  const queue = await findQueue(app, caller, body);
  if (isRefusal(queue)) return queue;
  const results: BulkResults['results'][number][] = [];
  for (const each of prs) {
    const one = named(typeof each === 'object' ? each : ({ number: each } as Pr));
    results.push({ prNumber: one.prNumber, ...(await resultOf(act(one))) });
  }
  return { results };
}

function named<Pr extends GivenPr>({ number, ...rest }: Pr): Omit<Pr, 'number'> & { readonly prNumber: PrNumber } {
  return { ...rest, prNumber: prNumber(number) };
}

/** A fault, as of the forge, is one pull request's problem. A bug is not. */
async function resultOf(answered: Answer<EntryView>): Promise<Omit<BulkResults['results'][number], 'prNumber'>> {
  try {
    const answer = await answered;
    return isRefusal(answer) ? refused(answer) : { ok: true, entry: answer };
  } catch (error) {
    if (error instanceof Fault) return refused(toProblem(error));
    throw error;
  }
}

function refused({ code, detail }: { readonly code: ErrorCode; readonly detail: string }) {
  return { ok: false, problem: { code, status: ERRORS[code].status, detail } };
}
