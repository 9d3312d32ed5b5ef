import { type CallIn, getPullRequest, inRepository, notFound, paged, Refused, type Routes, textOf } from './call.ts';
import { branchHead, hasMode, type Label, type PullRequest, type Status, type TimelineItem } from './model.ts';
import { hasCommit } from './pull-routes.ts';
import { addItem } from './pushes.ts';
import { commentView, labelView, statusView, timelineView, timeOf, userView } from './views.ts';

/** Comments, reactions, labels, timelines and commit statuses. */
export const issueRoutes: Routes = {
  'GET /repos/{owner}/{repo}/issues/comments': inRepository('read', (call) => {
    const all = [...call.repository.pulls.values()].flatMap((pr) => commentsOf(pr).map((item) => ({ pr, item })));
    const since = Date.parse(call.query.get('since') ?? '') || 0;
    const found = all
      .filter(({ item }) => item.updatedAt >= since)
      .toSorted((one, other) => one.item.id - other.item.id);
    return paged(call, found, ({ pr, item }) => commentView(call.world, pr, item));
  }),
  'GET /repos/{owner}/{repo}/issues/comments/{id}': inRepository('read', (call) => ({
    status: 200,
    body: showComment(call),
  })),
  'PATCH /repos/{owner}/{repo}/issues/comments/{id}': inRepository('read', (call) => {
    const { pr, item } = getComment(call);
    if (item.user !== call.user && !hasMode(call.repository, call.user, 'write'))
      throw new Refused(403, '', call.world);
    item.body = textOf(call.body, 'body');
    item.updatedAt = call.world.now();
    tell(call, pr, item, 'edited');
    return { status: 200, body: showComment(call) };
  }),
  'POST /repos/{owner}/{repo}/issues/comments/{id}/reactions': inRepository('read', (call) => {
    const { reactions } = getComment(call).item;
    const content = textOf(call.body, 'content');
    const known = reactions.find((reaction) => reaction.user === call.user && reaction.content === content);
    const reaction = known ?? { user: call.user, content, createdAt: call.world.now() };
    if (known === undefined) reactions.push(reaction);
    const body = { user: userView(call.world, call.user), content, created_at: timeOf(reaction.createdAt) };
    return { status: known === undefined ? 201 : 200, body };
  }),
  'GET /repos/{owner}/{repo}/issues/{index}/comments': inRepository('read', (call) => {
    const pr = getPullRequest(call);
    const since = Date.parse(call.query.get('since') ?? '') || 0;
    const found = commentsOf(pr).filter(({ updatedAt }) => updatedAt >= since);
    return {
      status: 200,
      headers: { 'x-total-count': String(found.length) },
      body: found.map((item) => commentView(call.world, pr, item)),
    };
  }),
  'POST /repos/{owner}/{repo}/issues/{index}/comments': inRepository('read', (call) => {
    const pr = getPullRequest(call);
    const item = addItem(call.world, pr, call.user, { type: 'comment', body: textOf(call.body, 'body') });
    tell(call, pr, item, 'created');
    return { status: 201, body: commentView(call.world, pr, item) };
  }),
  'GET /repos/{owner}/{repo}/issues/{index}/timeline': inRepository('read', async (call) => {
    const pr = getPullRequest(call);
    const since = Date.parse(call.query.get('since') ?? '') || 0;
    const found = pr.timeline.filter(({ updatedAt }) => updatedAt >= since);
    const page = await paged(call, found, (item) => timelineView(call.world, pr, item));
    return { ...page, headers: { 'x-total-count': String((page.body as readonly unknown[]).length) } };
  }),
  'GET /repos/{owner}/{repo}/labels': inRepository('read', (call) =>
    paged(call, [...call.repository.labels.values()], labelView),
  ),
  'POST /repos/{owner}/{repo}/labels': inRepository('write', (call) => {
    const label: Label = {
      id: call.world.nextId(),
      name: textOf(call.body, 'name'),
      color: textOf(call.body, 'color').replace('#', ''),
    };
    call.repository.labels.set(label.id, label);
    return { status: 201, body: labelView(label) };
  }),
  'GET /repos/{owner}/{repo}/issues/{index}/labels': inRepository('read', (call) => ({
    status: 200,
    body: [...getPullRequest(call).labels].map(labelView),
  })),
  'POST /repos/{owner}/{repo}/issues/{index}/labels': inRepository('write', (call) => {
    const pr = getPullRequest(call);
    const wanted = (call.body['labels'] ?? []) as readonly (number | string)[];
    const known = [...call.repository.labels.values()].filter(
      ({ id, name }) => wanted.includes(id) || wanted.includes(name),
    );
    const added = known.filter((label) => !pr.labels.has(label));
    for (const label of added) {
      pr.labels.add(label);
      addItem(call.world, pr, call.user, { type: 'label', body: '1', label });
    }
    tellLabels(call, pr);
    return { status: 200, body: [...pr.labels].map(labelView) };
  }),
  'DELETE /repos/{owner}/{repo}/issues/{index}/labels/{id}': inRepository('write', (call) => {
    const pr = getPullRequest(call);
    const label = call.repository.labels.get(Number(call.params['id']));
    if (label === undefined) throw new Refused(422, 'label does not exist', call.world);
    if (pr.labels.delete(label)) addItem(call.world, pr, call.user, { type: 'label', label });
    tellLabels(call, pr);
    return { status: 204 };
  }),
  'POST /repos/{owner}/{repo}/statuses/{sha}': inRepository('write', async (call) => {
    const { world, repository, body, user } = call;
    const { sha = '' } = call.params;
    if (!(await hasCommit(repository, sha))) throw new Refused(500, '', world);
    const status: Status = {
      id: world.nextId(),
      sha,
      state: textOf(body, 'state'),
      context: textOf(body, 'context') || 'default',
      description: textOf(body, 'description'),
      targetUrl: textOf(body, 'target_url'),
      creator: user,
      createdAt: world.now(),
    };
    repository.statuses.push(status);
    world.announce({ type: 'status', repository, sender: user, status });
    return { status: 201, body: statusView(world, repository, status) };
  }),
  'GET /repos/{owner}/{repo}/commits/{*sha}/statuses': inRepository('read', listStatuses),
};

async function listStatuses(call: CallIn) {
  const sha = await resolve(call);
  const found = call.repository.statuses.filter((status) => status.sha === sha);
  // Gitea mixes its two orders by index up.
  const sorted = ['oldest', 'highestindex'].includes(call.query.get('sort') ?? '') ? found : found.toReversed();
  return paged(call, sorted, (status) => statusView(call.world, call.repository, status));
}

async function resolve(call: CallIn): Promise<string> {
  const { sha: name = '' } = call.params;
  const sha = branchHead(call.repository, name) ?? name;
  if (!(await hasCommit(call.repository, sha))) throw notFound(call);
  return sha;
}

function commentsOf({ timeline }: PullRequest): readonly TimelineItem[] {
  return timeline.filter(({ type }) => type === 'comment');
}

function getComment(call: CallIn): { readonly pr: PullRequest; readonly item: TimelineItem } {
  for (const pr of call.repository.pulls.values()) {
    const item = commentsOf(pr).find(({ id }) => id === Number(call.params['id']));
    if (item !== undefined) return { pr, item };
  }
  throw notFound(call);
}

function showComment(call: CallIn) {
  const { pr, item } = getComment(call);
  return commentView(call.world, pr, item);
}

function tell({ world, repository, user }: CallIn, pr: PullRequest, comment: TimelineItem, action: string): void {
  world.announce({ type: 'pull_request_comment', action, repository, sender: user, pr, comment });
}

/** The webhook does not name the label. */
function tellLabels({ world, repository, user }: CallIn, pr: PullRequest): void {
  world.announce({ type: 'pull_request_label', action: 'label_updated', repository, sender: user, pr });
}
