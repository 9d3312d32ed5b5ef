import { present } from '../../lib/present.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import type { AnswerOf, BodyOf, OperationName } from '../core/operations.ts';

/** The same server as it was at an instant, for readers that know nothing of the past. */
export function contextAt(context: Context, at: string): Context {
  const readOne = (body: BodyOf<'getSubmittedPullRequest'>) => context.call('getSubmittedPullRequest', { ...body, at });
  const readQueue = ({ ifVersion: _, ...body }: BodyOf<'pollQueue'>) => context.call('getQueue', { ...body, at });
  const readEach = async ({ prs, ...body }: BodyOf<'getSubmittedPullRequests'>) => {
    const pullRequests: AnswerOf<'getSubmittedPullRequest'>[] = [];
    for (const pr of prs) {
      const record = await readOne({ ...body, pr }).catch(orNothing);
      if (record !== undefined) pullRequests.push(record);
    }
    return { pullRequests, notFound: [] };
  };
  /** The list says who left by then. Each of them may be in another state today. */
  const list = async (body: BodyOf<'listPullRequests'>) => {
    const { repo, targetBranch } = body;
    const page = await context.call('listPullRequests', { ...body, until: at });
    const prs = page.pullRequests.map(({ prNumber }) => ({ number: prNumber }));
    const { pullRequests } = await readEach({ repo, targetBranch, prs });
    return { pullRequests, ...present({ nextCursor: page.nextCursor }) };
  };
  const call = (name: OperationName, body: object): Promise<unknown> => {
    if (name === 'getSubmittedPullRequests') return readEach(body as BodyOf<'getSubmittedPullRequests'>);
    if (name === 'listPullRequests') return list(body as BodyOf<'listPullRequests'>);
    if (name === 'pollQueue') return readQueue(body as BodyOf<'pollQueue'>);
    return context.call(name, { ...body, at } as BodyOf<typeof name>);
  };
  return { ...context, call: call as Context['call'] };
}

function orNothing(error: unknown): undefined {
  if (!(error instanceof CliError && error.status === 404)) throw error;
}
