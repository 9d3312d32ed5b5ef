import { Fault } from '../../lib/fault.ts';
import type { CheckRunDraft, CommentDraft, PairedAnswers, PairedDrafts, Written } from '../hosting.ts';
import type { GraphqlAnswer } from './api/client.ts';
import { type GitHubProblem, isPassing } from './api/exchange.ts';
import { checkInputOf, writeCheck } from './check-runs.ts';
import { writeComment } from './comments.ts';
import type { FactsTools } from './facts.ts';

type PairedKind = 'comment' | 'check';
type Answer = Readonly<Record<PairedKind, Payload | null>>;

/** Union of the answers of four mutations. */
interface Payload {
  readonly commentEdge?: { readonly node: CommentNode | null } | null;
  readonly issueComment?: CommentNode | null;
  readonly checkRun?: { readonly id: string; readonly databaseId: number | null; readonly url: string } | null;
}

interface CommentNode {
  readonly id: string;
  readonly fullDatabaseId: string | number | null;
}

interface Field {
  readonly type: string;
  /** The alias is the same for creating and updating, since problems name it. */
  readonly text: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Writes both in one GraphQL request. Falls back to two requests when GraphQL refuses it or a node id is unknown. */
// SPEC G106
export async function writePaired(tools: FactsTools, drafts: PairedDrafts): Promise<PairedAnswers> {
  const { client } = tools;
  const { repository } = drafts.comment;
  const alone = {
    comment: () => writeComment(tools, drafts.comment),
    check: () => writeCheck(client, drafts.check),
  };
  let answer: GraphqlAnswer<Partial<Answer> | undefined>;
  try {
    const { isApp } = await client.installation(repository);
    const [comment, check] = [commentField(tools, drafts.comment), await checkField(tools, drafts.check)];
    if (!isApp || comment === undefined || check === undefined) {
      return { comment: await settle(alone.comment), check: await settle(alone.check) };
    }
    answer = await client.mutate<Answer>({
      repository,
      query: `mutation WritePage($comment: ${comment.type}!, $check: ${check.type}!) { ${comment.text} ${check.text} }`,
      variables: { comment: comment.input, check: check.input },
      urgency: 'page',
    });
  } catch (reason) {
    return { comment: { status: 'rejected', reason }, check: { status: 'rejected', reason } };
  }
  const read = (part: PairedKind) => settle(async () => outcomeOf(answer, part) ?? alone[part]());
  return { comment: await read('comment'), check: await read('check') };
}

async function settle(act: () => Promise<Written | undefined>): Promise<PromiseSettledResult<Written | undefined>> {
  const [result] = await Promise.allSettled([act()]);
  return result;
}

const COMMENT = '{ id fullDatabaseId }';

function commentField({ client }: FactsTools, draft: CommentDraft): Field | undefined {
  const { repository, number, id, nodeId, text: body } = draft;
  if (id !== undefined) {
    const text = `comment: updateIssueComment(input: $comment) { issueComment ${COMMENT} }`;
    return nodeId === undefined ? undefined : { type: 'UpdateIssueCommentInput', text, input: { id: nodeId, body } };
  }
  const subjectId = client.findPullRequestId(repository, number);
  const text = `comment: addComment(input: $comment) { commentEdge { node ${COMMENT} } }`;
  return subjectId === undefined ? undefined : { type: 'AddCommentInput', text, input: { subjectId, body } };
}

/** A check that may exist already is searched for first, as in a single write. */
async function checkField({ client }: FactsTools, draft: CheckRunDraft): Promise<Field | undefined> {
  const { repository, headSha, id, nodeId, mayExist } = draft;
  const isNew = id === undefined && mayExist === false;
  if (!isNew && (id === undefined || nodeId === undefined)) return undefined;
  const { nodeId: repositoryId } = await client.resolve(repository);
  const same = { repositoryId, ...checkInputOf(draft) };
  const [type, act] = isNew ? ['CreateCheckRunInput', 'createCheckRun'] : ['UpdateCheckRunInput', 'updateCheckRun'];
  const text = `check: ${act}(input: $check) { checkRun { id databaseId url } }`;
  return { type, text, input: isNew ? { ...same, headSha } : { ...same, checkRunId: nodeId } };
}

/** Undefined when GitHub refused this part. The single write then gives the precise reason. */
function outcomeOf(
  { data, problems }: GraphqlAnswer<Partial<Answer> | undefined>,
  part: PairedKind,
): Written | undefined {
  const payload = data?.[part] ?? undefined;
  const written = payload && writtenIn(payload);
  if (written !== undefined) return written;
  const own = problems.filter(({ path }) => path[0] === part);
  const isRefused =
    payload === undefined &&
    (own.length > 0
      ? own.every(isRefusal)
      : data === undefined && problems.length > 0 && problems.every(isNotExecuted));
  if (isRefused) return undefined;
  const message = (own[0] ?? problems[0])?.message ?? 'its answer says nothing about it';
  // GitHub may have executed it. The retry searches for it first.
  throw new Fault('FORGE_UNAVAILABLE', `GitHub could not say what became of the ${part}: ${message}`);
}

const REFUSALS = ['NOT_FOUND', 'FORBIDDEN', 'UNPROCESSABLE', 'INSUFFICIENT_SCOPES', 'RATE_LIMITED'];

function isRefusal({ type, message }: GitHubProblem): boolean {
  return type === undefined ? /locked/i.test(message) : REFUSALS.includes(type);
}

/** A query that GitHub refuses as a whole executes nothing, for example when an older server lacks a field. */
function isNotExecuted({ type, message }: GitHubProblem): boolean {
  return type === undefined ? !isPassing(message) : REFUSALS.includes(type);
}

function writtenIn({ commentEdge, issueComment, checkRun }: Payload): Written | undefined {
  const comment = commentEdge?.node ?? issueComment;
  if (comment) return writtenOf(comment.id, comment.fullDatabaseId);
  // GraphQL cannot return ids of checks beyond 32 bits. The URL ends with the id.
  return checkRun ? writtenOf(checkRun.id, checkRun.databaseId ?? /\d+$/.exec(checkRun.url)?.[0]) : undefined;
}

function writtenOf(nodeId: string, id: string | number | null | undefined): Written | undefined {
  return id === null || id === undefined ? undefined : { id: String(id), nodeId };
}
