import { checkRunNode } from './graphql-checks.ts';
import { Complaint, type Node, noSuchNode, type Scope } from './graphql-node.ts';
import { commentNode } from './graphql-pull-request.ts';
import { seenRepositories } from './graphql-repository.ts';
import type { Repository } from './model.ts';
import { Refused } from './refused.ts';
import { changeRun, makeRun } from './routes/check-routes.ts';
import { rewrite, writeBelow } from './routes/pull-routes.ts';

type Input = Readonly<Record<string, unknown>>;
interface Args {
  readonly input: Input;
}

/** The same acts as in REST, under GraphQL's names. */
export function mutationFields(scope: Scope): Node {
  const act = (does: (input: Input) => Node | Promise<Node>) => async (args: Args) => {
    try {
      return { clientMutationId: null, ...(await does(args.input)) };
    } catch (error) {
      throw error instanceof Refused ? complaintOf(error) : error;
    }
  };
  return {
    addComment: act((input) => addComment(scope, input)),
    updateIssueComment: act((input) => updateIssueComment(scope, input)),
    createCheckRun: act((input) => createCheckRun(scope, input)),
    updateCheckRun: act((input) => updateCheckRun(scope, input)),
  };
}

function addComment(scope: Scope, { subjectId, body }: Input): Node {
  for (const repository of seenRepositories(scope)) {
    const pr = repository.pulls.values().find(({ nodeId }) => nodeId === subjectId);
    if (pr === undefined) continue;
    const comment = writeBelow(scope, pr, String(body));
    return { commentEdge: { node: commentNode(pr, comment) } };
  }
  throw noSuchNode(subjectId);
}

function updateIssueComment(scope: Scope, { id, body }: Input): Node {
  for (const repository of seenRepositories(scope)) {
    for (const pr of repository.pulls.values()) {
      const comment = pr.comments.find(({ nodeId }) => nodeId === id);
      if (comment === undefined) continue;
      rewrite(scope, { pr, comment }, String(body));
      return { issueComment: () => commentNode(pr, comment) };
    }
  }
  throw noSuchNode(id);
}

async function createCheckRun(scope: Scope, input: Input): Promise<Node> {
  const repository = repositoryOf(scope, input);
  const check = await makeRun(scope, repository, bodyOf(input));
  return { checkRun: () => checkRunNode(scope, repository, check) };
}

function updateCheckRun(scope: Scope, input: Input): Node {
  const repository = repositoryOf(scope, input);
  const check = repository.checks.find(({ nodeId }) => nodeId === input['checkRunId']);
  if (check === undefined) throw noSuchNode(input['checkRunId']);
  changeRun(scope, repository, { check, body: bodyOf(input) });
  return { checkRun: () => checkRunNode(scope, repository, check) };
}

/** Converts the input to REST's form. */
function bodyOf(input: Input): Input {
  const { headSha, externalId, startedAt, completedAt, detailsUrl, status, conclusion, name, output } = input;
  return {
    head_sha: headSha,
    external_id: externalId,
    started_at: startedAt,
    completed_at: completedAt,
    details_url: detailsUrl,
    status: typeof status === 'string' ? status.toLowerCase() : status,
    conclusion: typeof conclusion === 'string' ? conclusion.toLowerCase() : conclusion,
    name,
    output,
  };
}

function repositoryOf(scope: Scope, { repositoryId }: Input): Repository {
  const found = seenRepositories(scope).find(({ nodeId }) => nodeId === repositoryId);
  if (found === undefined) throw noSuchNode(repositoryId);
  return found;
}

function complaintOf({ status, message, errors }: Refused): Complaint {
  if (status === 404) return new Complaint('NOT_FOUND', message);
  if (status !== 422) return new Complaint('FORBIDDEN', message);
  return new Complaint('UNPROCESSABLE', errors === undefined ? message : errors.map(String).join(', '));
}
