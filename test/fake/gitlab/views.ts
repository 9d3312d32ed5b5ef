import type { View } from './call.ts';
import {
  branchHead,
  type DeployKey,
  fullPathOf,
  type Hook,
  isDraft,
  type Job,
  type LabelEvent,
  levelOf,
  type MergeRequest,
  type Note,
  type Pipeline,
  type Project,
  type Protection,
  protectionOf,
  type User,
  type World,
} from './model.ts';

/** The fields of GitLab's answers that Sluice or its tests read, in GitLab's words. */

export const timeOf = (at: number) => new Date(at).toISOString();
const timeOrNull = (at: number | undefined) => (at === undefined ? null : timeOf(at));

export function userView({ url }: World, { id, username, name, state }: User): View {
  return { id, username, name, state, avatar_url: `${url}/avatar/${id}`, web_url: `${url}/${username}` };
}

export function projectView(world: World, project: Project, caller: User): View {
  const { id, path, namespace, settings } = project;
  const fullPath = fullPathOf(project);
  const { host, hostname } = new URL(world.url);
  return {
    id,
    name: path,
    path,
    path_with_namespace: fullPath,
    namespace: {
      id: id + 100_000,
      name: namespace,
      path: namespace.split('/').at(-1),
      kind: 'group',
      full_path: namespace,
    },
    default_branch: branchHead(project, project.defaultBranch) === undefined ? null : project.defaultBranch,
    visibility: project.isPrivate ? 'private' : 'public',
    archived: project.isArchived,
    web_url: `${world.url}/${fullPath}`,
    http_url_to_repo: `http://${host}/${fullPath}.git`,
    ssh_url_to_repo: `git@${hostname}:${fullPath}.git`,
    permissions: {
      project_access: { access_level: levelOf(project, caller), notification_level: 3 },
      group_access: null,
    },
    ...settings,
  };
}

export function branchView(world: World, project: Project, name: string): View {
  const id = branchHead(project, name) ?? '';
  return {
    name,
    commit: { id, short_id: id.slice(0, 8) },
    merged: false,
    protected: protectionOf(project, name) !== undefined,
    default: name === project.defaultBranch,
    developers_can_push: false,
    developers_can_merge: false,
    web_url: `${world.url}/${fullPathOf(project)}/-/tree/${name}`,
  };
}

export function requestView(world: World, request: MergeRequest, status: string): View {
  const { project, labels, source } = request;
  return {
    id: request.id,
    iid: request.iid,
    project_id: project.id,
    title: request.title,
    description: request.description,
    state: request.state,
    created_at: timeOf(request.createdAt),
    updated_at: timeOf(request.updatedAt),
    merged_at: timeOrNull(request.mergedAt),
    closed_at: timeOrNull(request.closedAt),
    target_branch: request.targetBranch,
    source_branch: request.sourceBranch,
    author: userView(world, request.author),
    source_project_id: source?.id ?? null,
    target_project_id: project.id,
    labels: [...labels].toSorted(),
    draft: isDraft(request),
    detailed_merge_status: status,
    sha: request.headSha,
    merge_commit_sha: null,
    should_remove_source_branch: null,
    force_remove_source_branch: request.removesSource,
    web_url: `${world.url}/${fullPathOf(project)}/-/merge_requests/${request.iid}`,
    has_conflicts: request.trial?.isClean === false,
    blocking_discussions_resolved: !request.hasOpenThreads,
    user_notes_count: request.notes.filter(({ isSystem }) => !isSystem).length,
  };
}

export function noteView(world: World, request: MergeRequest, note: Note): View {
  return {
    id: note.id,
    body: note.body,
    attachment: null,
    author: userView(world, note.author),
    created_at: timeOf(note.createdAt),
    updated_at: timeOf(note.updatedAt),
    system: note.isSystem,
    noteable_id: request.id,
    noteable_type: 'MergeRequest',
    noteable_iid: request.iid,
    resolvable: false,
  };
}

export function noteEventView(world: World, request: MergeRequest, note: Note): View {
  return {
    id: note.id,
    project_id: request.project.id,
    action_name: 'commented on',
    target_id: note.id,
    target_iid: note.id,
    target_type: 'Note',
    author_id: note.author.id,
    target_title: request.title,
    created_at: timeOf(note.createdAt),
    note: noteView(world, request, note),
    author: userView(world, note.author),
    author_username: note.author.username,
  };
}

export function labelEventView(world: World, request: MergeRequest, event: LabelEvent): View {
  return {
    id: event.id,
    user: userView(world, event.user),
    created_at: timeOf(event.createdAt),
    resource_type: 'MergeRequest',
    resource_id: request.id,
    label: { id: event.id, name: event.label, color: '#2da44e' },
    action: event.action,
  };
}

export function pipelineView(world: World, project: Project, pipeline: Pipeline): View {
  const { id, sha, ref, source, status, createdAt, updatedAt } = pipeline;
  const web_url = `${world.url}/${fullPathOf(project)}/-/pipelines/${id}`;
  const times = { created_at: timeOf(createdAt), updated_at: timeOf(updatedAt) };
  return { id, project_id: project.id, sha, ref, source, status, ...times, web_url };
}

export function jobView(world: World, project: Project, pipeline: Pipeline, job: Job): View {
  return {
    id: job.id,
    status: job.status,
    stage: 'test',
    name: job.name,
    ref: pipeline.ref,
    tag: false,
    allow_failure: false,
    created_at: timeOf(job.createdAt),
    started_at: job.status === 'created' ? null : timeOf(job.createdAt),
    finished_at: timeOrNull(job.finishedAt),
    user: userView(world, job.user),
    pipeline: {
      id: pipeline.id,
      project_id: project.id,
      ref: pipeline.ref,
      sha: pipeline.sha,
      status: pipeline.status,
    },
    web_url: `${world.url}/${fullPathOf(project)}/-/jobs/${job.id}`,
  };
}

export function statusView(world: World, project: Project, pipeline: Pipeline, job: Job): View {
  const { id, name, status, description, createdAt, finishedAt, user } = job;
  const { sha, ref } = pipeline;
  const times = { created_at: timeOf(createdAt), started_at: null, finished_at: timeOrNull(finishedAt) };
  const target_url = pipeline.jobs.includes(job) ? `${world.url}/${fullPathOf(project)}/-/jobs/${id}` : null;
  const more = { description, target_url, allow_failure: false, coverage: null, pipeline_id: pipeline.id };
  return { id, sha, ref, status, name, ...times, ...more, author: userView(world, user) };
}

export function protectionView({ id, name, push, merge }: Protection): View {
  const levelView = (level: Protection['push'][number], index: number) => ({
    id: id * 10 + index,
    access_level: typeof level === 'number' ? level : 40,
    access_level_description: typeof level === 'number' ? String(level) : 'Deploy key',
    deploy_key_id: typeof level === 'number' ? null : level.deployKey,
  });
  return {
    id,
    name,
    push_access_levels: push.map(levelView),
    merge_access_levels: merge.map(levelView),
    allow_force_push: false,
  };
}

export function hookView({ id, url, events, token, signingToken }: Hook, project: Project): View {
  const present = { token_present: token !== '', signing_token_present: signingToken !== '' };
  return { id, url, project_id: project.id, ...events, alert_status: 'executable', disabled_until: null, ...present };
}

export function deployKeyView({ id, title, key, canPush }: DeployKey): View {
  return { id, title, key, can_push: canPush, created_at: timeOf(0), expires_at: null };
}
