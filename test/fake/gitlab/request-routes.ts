import {
  aboutRequest,
  type CallAbout,
  type CallIn,
  created,
  inProject,
  notFound,
  ok,
  paged,
  Refused,
  type Routes,
  textOf,
  wordsOf,
} from './call.ts';
import {
  branchHead,
  LEVEL,
  levelOf,
  type MergeRequest,
  type Note,
  type Project,
  type User,
  type World,
} from './model.ts';
import { addNote, checkNote, countDiverged, moveHead, readStatus, setLabels, setState, setTarget } from './pushes.ts';
import { labelEventView, noteEventView, noteView, pipelineView, requestView, timeOf, userView } from './views.ts';

/** Merge requests, their notes, labels, approvals and versions. */
export const requestRoutes: Routes = {
  'GET /projects/{id}/merge_requests': inProject('guest', async (call) => {
    const { world, query } = call;
    const isAsked = query.get('with_merge_status_recheck') === 'true';
    const found = select(call);
    const views = new Map<MergeRequest, object>();
    for (const each of found) views.set(each, requestView(world, each, await readStatus(each, isAsked)));
    return paged(call, found, (each) => views.get(each) as never);
  }),
  'POST /projects/{id}/merge_requests': inProject('developer', async ({ world, project, user, body }) => {
    const [sourceBranch, targetBranch] = [textOf(body, 'source_branch'), textOf(body, 'target_branch')];
    const open = { project, source: project, sourceBranch, targetBranch, author: user };
    const [title, description] = [textOf(body, 'title'), textOf(body, 'description')];
    const request = await openRequest(world, { ...open, title, description });
    return created(requestView(world, request, await readStatus(request)));
  }),
  'GET /projects/{id}/merge_requests/{iid}': aboutRequest('guest', async (call) => {
    const { world, request, project, query } = call;
    const isCounted = query.get('include_diverged_commits_count') === 'true';
    const pipeline = project.pipelines.findLast(({ sha }) => sha === request.headSha);
    return ok({
      ...requestView(world, request, await readStatus(request)),
      head_pipeline: pipeline === undefined ? null : pipelineView(world, project, pipeline),
      ...(isCounted && { diverged_commits_count: await countDiverged(request) }),
    });
  }),
  'PUT /projects/{id}/merge_requests/{iid}': aboutRequest('guest', async (call) => {
    const { world, request, user, project, body } = call;
    if (user !== request.author && levelOf(project, user) < LEVEL.developer) throw new Refused(403, '403 Forbidden');
    const target = textOf(body, 'target_branch');
    if (target !== '' && branchHead(project, target) === undefined)
      throw new Refused(422, ['Target branch does not exist']);
    if (request.state === 'opened') setTarget(world, request, user, target);
    setLabels(world, request, user, { add: wordsOf(body, 'add_labels'), remove: wordsOf(body, 'remove_labels') });
    if (textOf(body, 'state_event') === 'close' && request.state === 'opened') setState(world, request, user, 'closed');
    return ok(requestView(world, request, await readStatus(request)));
  }),
  'GET /projects/{id}/merge_requests/{iid}/notes': aboutRequest('guest', (call) => {
    const { world, request, query } = call;
    const notes = query.get('sort') === 'asc' ? request.notes : request.notes.toReversed();
    return paged(call, notes, (note) => noteView(world, request, note));
  }),
  'POST /projects/{id}/merge_requests/{iid}/notes': aboutRequest('guest', ({ world, request, user, body }) =>
    created(noteView(world, request, addNote(world, request, user, textOf(body, 'body')))),
  ),
  'GET /projects/{id}/merge_requests/{iid}/notes/{note}': aboutRequest('guest', (call) =>
    ok(noteView(call.world, call.request, getNote(call))),
  ),
  'PUT /projects/{id}/merge_requests/{iid}/notes/{note}': aboutRequest('guest', (call) => {
    const note = getNote(call);
    if (note.author !== call.user) throw new Refused(403, '403 Forbidden');
    note.body = textOf(call.body, 'body');
    note.updatedAt = call.world.now();
    checkNote(call.world, note);
    return ok(noteView(call.world, call.request, note));
  }),
  'POST /projects/{id}/merge_requests/{iid}/notes/{note}/award_emoji': aboutRequest('guest', (call) => {
    const { world, user, body } = call;
    const { awards } = getNote(call);
    const name = textOf(body, 'name');
    if (awards.some((award) => award.user === user && award.name === name))
      throw new Refused(404, '404 Award Emoji Name has already been taken Not Found');
    awards.push({ user, name });
    return created({ id: world.nextId(), name, user: userView(world, user), awardable_type: 'Note' });
  }),
  'GET /projects/{id}/merge_requests/{iid}/resource_label_events': aboutRequest('guest', (call) =>
    paged(call, call.request.labelEvents, (event) => labelEventView(call.world, call.request, event)),
  ),
  'GET /projects/{id}/merge_requests/{iid}/approvals': aboutRequest('guest', ({ world, request }) => {
    const approved_by = [...request.approvals].map(([id, at]) => ({
      user: userView(world, world.users.values().find((user) => user.id === id) as User),
      approved_at: timeOf(at),
    }));
    return ok({ user_has_approved: false, user_can_approve: true, approved: approved_by.length > 0, approved_by });
  }),
  'GET /projects/{id}/merge_requests/{iid}/versions': aboutRequest('guest', (call) =>
    paged(call, call.request.versions.toReversed(), ({ id, headSha, createdAt }) => ({
      ...{ id, head_commit_sha: headSha, merge_request_id: call.request.id, created_at: timeOf(createdAt) },
    })),
  ),
  'GET /projects/{id}/events': inProject('guest', (call) => {
    const { world, project, query } = call;
    const after = Date.parse(query.get('after') ?? '') || 0;
    const notes = [...project.requests.values()].flatMap((request) =>
      request.notes.flatMap((note) => (note.isSystem ? [] : { request, note })),
    );
    const DAY = 86_400_000;
    const found = notes
      .filter(({ note }) => note.createdAt >= after + (after === 0 ? 0 : DAY))
      .toSorted((one, other) => other.note.id - one.note.id);
    return paged(call, found, ({ request, note }) => noteEventView(world, request, note));
  }),
};

function select({ project, query }: CallIn): readonly MergeRequest[] {
  const iids = query.getAll('iids[]').map(Number);
  const state = query.get('state') ?? 'all';
  const [source, target] = [query.get('source_branch'), query.get('target_branch')];
  const found = [...project.requests.values()].filter(
    (each) =>
      (iids.length === 0 || iids.includes(each.iid)) &&
      (state === 'all' || each.state === state) &&
      (source === null || each.sourceBranch === source) &&
      (target === null || each.targetBranch === target),
  );
  const keyOf = (each: MergeRequest) => (query.get('order_by') === 'updated_at' ? each.updatedAt : each.createdAt);
  return found.toSorted((one, other) => keyOf(other) - keyOf(one) || other.id - one.id);
}

function getNote({ request, params }: CallAbout): Note {
  const note = request.notes.find(({ id }) => id === Number(params['note']));
  if (note === undefined) throw notFound('Note');
  return note;
}

export interface NewRequest {
  readonly project: Project;
  readonly source: Project;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly author: User;
  readonly title?: string;
  readonly description?: string;
  readonly removesSource?: boolean;
}

export async function openRequest(world: World, draft: NewRequest): Promise<MergeRequest> {
  const { project, source, sourceBranch, targetBranch, author } = draft;
  const head = branchHead(source, sourceBranch);
  if (head === undefined) throw new Refused(422, ['Source branch does not exist']);
  const isTwin = (other: MergeRequest) =>
    other.state === 'opened' &&
    other.source === source &&
    other.sourceBranch === sourceBranch &&
    other.targetBranch === targetBranch;
  const twin = project.requests.values().find(isTwin);
  if (twin !== undefined)
    throw new Refused(409, [`Another open merge request already exists for this source branch: !${twin.iid}`]);
  const at = world.now();
  const request: MergeRequest = {
    ...{ id: world.nextId(), iid: project.requests.size + 1, project, source, sourceBranch, targetBranch, author },
    ...{ title: draft.title ?? sourceBranch, description: draft.description ?? '', labels: new Set() },
    ...{ state: 'opened', headSha: head, removesSource: draft.removesSource === true, hasOpenThreads: false },
    ...{ forced: undefined, trial: undefined, versions: [], notes: [], labelEvents: [], approvals: new Map() },
    ...{ mergedAt: undefined, closedAt: undefined, createdAt: at, updatedAt: at },
  };
  project.requests.set(request.iid, request);
  await moveHead(world, request, author, head);
  world.announce({ kind: 'merge_request', action: 'open', project, user: author, request });
  return request;
}
