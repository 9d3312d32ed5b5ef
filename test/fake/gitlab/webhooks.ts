import { createHmac, randomUUID } from 'node:crypto';
import type { Deliveries } from '../hosted/deliveries.ts';
import type { View } from './call.ts';
import {
  fullPathOf,
  type Happening,
  type Hook,
  isDraft,
  type MergeRequest,
  type Project,
  type User,
  type World,
} from './model.ts';
import { readStatus } from './pushes.ts';
import { timeOf } from './views.ts';

const EVENTS = {
  push: ['push_events', 'Push Hook'],
  merge_request: ['merge_requests_events', 'Merge Request Hook'],
  note: ['note_events', 'Note Hook'],
  pipeline: ['pipeline_events', 'Pipeline Hook'],
  build: ['job_events', 'Job Hook'],
} as const;

/** Tells what happened to the hooks that subscribe to it. */
export function announceTo(webhooks: Deliveries, world: World, happening: Happening): void {
  const [type, event] = EVENTS[happening.kind];
  const hooks = [...happening.project.hooks.values()].filter(({ events }) => events[type] === true);
  const to = hooks.map((hook) => ({
    url: hook.url,
    headersOf: (body: string) => ({ ...headersOf(hook, body), 'x-gitlab-event': event }),
  }));
  webhooks.send({ event, type }, to, () => payloadOf(world, happening));
}

/** A token in clear, or a signature as of Standard Webhooks. */
export function headersOf({ token, signingToken }: Pick<Hook, 'token' | 'signingToken'>, body: string) {
  const id = randomUUID();
  const seconds = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(signingToken.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'user-agent': 'GitLab/19.2.0',
    'idempotency-key': id,
    'x-gitlab-event-uuid': id,
    ...(token !== '' && { 'x-gitlab-token': token }),
    ...(signingToken !== '' && {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${signature}`,
    }),
  };
}

function projectIn({ url }: World, project: Project): View {
  const fullPath = fullPathOf(project);
  const { id, path: name, namespace, defaultBranch } = project;
  const web_url = `${url}/${fullPath}`;
  return {
    id,
    name,
    namespace,
    path_with_namespace: fullPath,
    web_url,
    homepage: web_url,
    default_branch: defaultBranch,
  };
}

function userIn({ id, username, name }: User): View {
  return { id, username, name, email: '[REDACTED]' };
}

async function requestIn(world: World, request: MergeRequest): Promise<View> {
  const { id, iid, title, description, state, sourceBranch, targetBranch, source, project, headSha } = request;
  return {
    ...{ id, iid, title, description, state, draft: isDraft(request) },
    ...{ source_branch: sourceBranch, target_branch: targetBranch },
    ...{ source_project_id: source?.id, target_project_id: project.id, last_commit: { id: headSha } },
    ...{ created_at: timeOf(request.createdAt), updated_at: timeOf(request.updatedAt) },
    ...{ url: `${world.url}/${fullPathOf(project)}/-/merge_requests/${iid}` },
    detailed_merge_status: await readStatus(request, false),
  };
}

async function payloadOf(world: World, happening: Happening): Promise<View> {
  const { project, user } = happening;
  const shown = projectIn(world, project);
  const common = { user: userIn(user), project: shown, repository: { name: project.path, homepage: shown['web_url'] } };
  switch (happening.kind) {
    case 'push': {
      const { ref, before, after } = happening;
      const who = { user_id: user.id, user_username: user.username, project_id: project.id };
      return { object_kind: 'push', event_name: 'push', ref, before, after, ...who, ...common };
    }
    case 'merge_request': {
      const { action, request, changes = {} } = happening;
      const { oldrev, ...rest } = changes;
      const object_attributes = {
        ...(await requestIn(world, request)),
        action,
        ...(oldrev !== undefined && { oldrev }),
      };
      return { object_kind: 'merge_request', event_type: 'merge_request', ...common, object_attributes, changes: rest };
    }
    case 'note': {
      const { request, note } = happening;
      const ids = { id: note.id, note: note.body, noteable_type: 'MergeRequest', author_id: user.id, system: false };
      const object_attributes = { ...ids, action: 'create', created_at: timeOf(note.createdAt) };
      const merge_request = await requestIn(world, request);
      return {
        object_kind: 'note',
        event_type: 'note',
        project_id: project.id,
        ...common,
        object_attributes,
        merge_request,
      };
    }
    case 'pipeline': {
      const { id, sha, ref, source, status, createdAt } = happening.pipeline;
      const object_attributes = { id, sha, ref, tag: false, source, status, created_at: timeOf(createdAt) };
      return { object_kind: 'pipeline', ...common, object_attributes, merge_request: null, builds: [] };
    }
    case 'build': {
      const { pipeline, job } = happening;
      const { project: _, ...rest } = common;
      return {
        ...{ object_kind: 'build', ref: pipeline.ref, tag: false, sha: pipeline.sha, pipeline_id: pipeline.id },
        ...{ build_id: job.id, build_name: job.name, build_stage: 'test', build_status: job.status },
        ...{
          build_created_at: timeOf(job.createdAt),
          build_started_at: timeOf(job.createdAt),
          build_allow_failure: false,
        },
        ...{ project_id: project.id, project_name: `${project.namespace} / ${project.path}` },
        ...rest,
      };
    }
  }
}
