import { findCommit, findMergeBase, isAncestor, listShas, mergeTree, readRefs } from '../hosted/git.ts';
import { keepRef } from '../hosted/keep-ref.ts';
import {
  branchHead,
  isDraft,
  type MergeRequest,
  type Note,
  openRequests,
  type Pipeline,
  type Project,
  type User,
  type World,
} from './model.ts';

export const ZEROS = '0'.repeat(40);

/** After git moved refs, finds the changes and applies their consequences. */
export async function catchUp(world: World, project: Project, user: User): Promise<void> {
  const before = project.refs;
  const after = await readRefs(project.gitDir);
  project.refs = after;
  for (const ref of new Set([...before.keys(), ...after.keys()])) {
    const change = { before: before.get(ref) ?? ZEROS, after: after.get(ref) ?? ZEROS };
    if (!ref.startsWith('refs/heads/') || change.before === change.after) continue;
    world.announce({ kind: 'push', project, user, ref, ...change });
    const branch = ref.slice('refs/heads/'.length);
    await moveSources(world, project, user, branch, change.after);
    await moveTarget(world, project, user, branch, change);
    if (change.after !== ZEROS) await startPipeline(world, project, user, branch, change.after);
  }
}

async function moveSources(world: World, project: Project, user: User, branch: string, after: string): Promise<void> {
  for (const target of world.projects.values())
    for (const request of openRequests(target)) {
      if (request.source !== project || request.sourceBranch !== branch) continue;
      if (after === ZEROS) setState(world, request, user, 'closed');
      else await moveHead(world, request, user, after);
    }
}

/** A merge request whose head came into its target is merged. The others are checked anew when somebody asks. */
async function moveTarget(
  world: World,
  project: Project,
  user: User,
  branch: string,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<void> {
  const ofBranch = openRequests(project).filter(({ targetBranch }) => targetBranch === branch);
  if (ofBranch.length === 0) return;
  const isMove = before !== ZEROS && after !== ZEROS;
  const pushed = new Set(isMove ? await listShas(project.gitDir, before, after) : []);
  for (const request of ofBranch) {
    request.trial = undefined;
    if (pushed.has(request.headSha)) setState(world, request, user, 'merged');
  }
}

export async function moveHead(world: World, request: MergeRequest, user: User, after: string): Promise<void> {
  const { project, source, iid } = request;
  await keepRef(project, source, { ref: `refs/merge-requests/${iid}/head`, after });
  const isNew = request.versions.length === 0;
  const oldrev = request.headSha;
  request.headSha = after;
  request.trial = undefined;
  request.versions.push({ id: world.nextId(), headSha: after, createdAt: world.now() });
  touch(world, request);
  if (isNew) return;
  addNote(world, request, user, 'added 1 commit', true);
  world.announce({
    kind: 'merge_request',
    action: 'update',
    project: request.project,
    user,
    request,
    changes: { oldrev },
  });
}

export function setState(world: World, request: MergeRequest, user: User, state: MergeRequest['state']): void {
  request.state = state;
  if (state === 'merged') request.mergedAt = world.now();
  request.closedAt = state === 'closed' ? world.now() : undefined;
  touch(world, request);
  const action = { merged: 'merge', closed: 'close', opened: 'reopen' }[state];
  world.announce({ kind: 'merge_request', action, project: request.project, user, request });
}

export function setTarget(world: World, request: MergeRequest, user: User, branch: string): void {
  if (branch === '' || branch === request.targetBranch) return;
  addNote(world, request, user, `changed target branch from \`${request.targetBranch}\` to \`${branch}\``, true);
  request.targetBranch = branch;
  request.trial = undefined;
  // GitLab makes a new version of the same head.
  request.versions.push({ id: world.nextId(), headSha: request.headSha, createdAt: world.now() });
  const changes = { target_branch: {} };
  world.announce({ kind: 'merge_request', action: 'update', project: request.project, user, request, changes });
}

export function setLabels(
  world: World,
  request: MergeRequest,
  user: User,
  { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): void {
  const { labels, labelEvents, project } = request;
  const before = [...labels];
  const note = (label: string, action: 'add' | 'remove') =>
    labelEvents.push({ id: world.nextId(), user, label, action, createdAt: world.now() });
  for (const label of add) {
    project.labels.add(label);
    if (!labels.has(label)) note(label, 'add');
    labels.add(label);
  }
  for (const label of remove) if (labels.delete(label)) note(label, 'remove');
  if (before.length === labels.size && before.every((label) => labels.has(label))) return;
  touch(world, request);
  const titled = (names: readonly string[]) => names.map((title) => ({ title }));
  const changes = { labels: { previous: titled(before), current: titled([...labels]) } };
  world.announce({ kind: 'merge_request', action: 'update', project, user, request, changes });
}

export function addNote(world: World, request: MergeRequest, author: User, body: string, isSystem = false): Note {
  const at = world.now();
  const note: Note = { id: world.nextId(), author, body, isSystem, createdAt: at, updatedAt: at, awards: [] };
  checkNote(world, note);
  request.notes.push(note);
  touch(world, request);
  if (!isSystem) world.announce({ kind: 'note', project: request.project, user: author, request, note });
  return note;
}

/** GitLab would carry out such a line with the rights of the bot, and link such a number to an issue. */
export function checkNote(world: World, { author, isSystem, body }: Note): void {
  if (isSystem || !author.isBot) return;
  const wrong = /^\s*\/\w.*$/m.exec(body)?.[0] ?? /(?<=\s)#\d+/.exec(body.replaceAll(/`[^`]*`/g, ''))?.[0];
  if (wrong !== undefined) world.violations.push(`GitLab would take "${wrong}" in a note for something else.`);
}

function touch(world: World, request: MergeRequest): void {
  request.updatedAt = world.now();
}

/** Reading an unchecked merge request begins the check, whose result is told to the next one who asks. */
export async function readStatus(request: MergeRequest, isAsked = true): Promise<string> {
  const { forced, project, state, trial } = request;
  if (forced !== undefined) return forced;
  if (state === 'opened' && trial?.key !== keyOf(request)) {
    if (isAsked) await isClean(request);
    return isAsked ? 'checking' : 'unchecked';
  }
  if (state !== 'opened') return 'not_open';
  if (isDraft(request)) return 'draft_status';
  if (branchHead(project, request.targetBranch) === undefined) return 'commits_status';
  if (request.hasOpenThreads && project.settings['only_allow_merge_if_all_discussions_are_resolved'] === true)
    return 'discussions_not_resolved';
  if (trial?.isClean === false) return 'conflict';
  if (project.settings['merge_method'] === 'ff' && (await countDiverged(request)) > 0) return 'need_rebase';
  const pipeline = project.pipelines.findLast(({ sha }) => sha === request.headSha);
  if (project.settings['only_allow_merge_if_pipeline_succeeds'] !== true || pipeline?.status === 'success')
    return 'mergeable';
  return pipeline !== undefined && ['pending', 'running'].includes(pipeline.status)
    ? 'ci_still_running'
    : 'ci_must_pass';
}

function keyOf({ project, targetBranch, headSha }: MergeRequest): string {
  return `${branchHead(project, targetBranch)} ${headSha}`;
}

async function isClean(request: MergeRequest): Promise<boolean> {
  const { project, targetBranch, headSha } = request;
  const base = branchHead(project, targetBranch);
  const isRelated = base !== undefined && (await findMergeBase(project.gitDir, base, headSha)) !== undefined;
  const tree = isRelated ? await mergeTree(project.gitDir, base, headSha) : undefined;
  request.trial = { key: keyOf(request), isClean: tree !== undefined };
  return request.trial.isClean;
}

/** Commits of the target that the head lacks. */
export async function countDiverged({ project, targetBranch, headSha }: MergeRequest): Promise<number> {
  const base = branchHead(project, targetBranch);
  if (base === undefined || (await isAncestor(project.gitDir, base, headSha))) return 0;
  return (await listShas(project.gitDir, headSha, base)).length;
}

async function startPipeline(world: World, project: Project, user: User, ref: string, sha: string): Promise<void> {
  if (project.jobs === undefined) return;
  const { message = '' } = (await findCommit(project.gitDir, sha)) ?? {};
  const status = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i.test(message) ? 'skipped' : 'running';
  addPipeline(world, project, { user, ref, sha, status, source: 'push' });
}

type NewPipeline = Pick<Pipeline, 'user' | 'ref' | 'sha' | 'status' | 'source'>;

export function addPipeline(world: World, project: Project, draft: NewPipeline): Pipeline {
  const at = world.now();
  const isSkipped = draft.status === 'skipped';
  const jobs = (draft.source === 'external' || isSkipped ? [] : (project.jobs ?? [])).map((name) => ({
    ...{ id: world.nextId(), name, status: 'running', user: draft.user, description: null },
    ...{ createdAt: at, finishedAt: undefined },
  }));
  const pipeline: Pipeline = { id: world.nextId(), ...draft, jobs, statuses: [], createdAt: at, updatedAt: at };
  project.pipelines.push(pipeline);
  world.announce({ kind: 'pipeline', project, user: draft.user, pipeline });
  return pipeline;
}

const OPEN = ['created', 'pending', 'running'];

/** A pipeline sums up its jobs, and the statuses of others. */
export function settlePipeline(world: World, project: Project, pipeline: Pipeline): void {
  const states = [...pipeline.jobs, ...pipeline.statuses].map(({ status }) => status);
  const before = pipeline.status;
  if (states.some((state) => OPEN.includes(state))) pipeline.status = 'running';
  else if (states.includes('failed')) pipeline.status = 'failed';
  else pipeline.status = states.includes('canceled') ? 'canceled' : 'success';
  pipeline.updatedAt = world.now();
  if (pipeline.status !== before) world.announce({ kind: 'pipeline', project, user: pipeline.user, pipeline });
}
