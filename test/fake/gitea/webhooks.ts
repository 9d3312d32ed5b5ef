import { createHmac, randomUUID } from 'node:crypto';
import type { Deliveries } from '../hosted/deliveries.ts';
import { getCommit } from '../hosted/git.ts';
import type { Happening, Hook, User, World } from './model.ts';
import { isClean } from './pushes.ts';
import { commentView, issueView, pullRequestView, repositoryView, timeOf, userView, type View } from './views.ts';

/** Tells what happened to the hooks that subscribe to it. */
export function announceTo(webhooks: Deliveries, world: World, happening: Happening): void {
  const { type, repository } = happening;
  const hooks = [...repository.hooks.values()].filter((hook) => isMeant(hook, type));
  const to = hooks.map((hook) => ({
    url: hook.config['url'] ?? '',
    headersOf: (body: string) => headersOf(hook, type, body),
  }));
  webhooks.send({ event: eventOf(type), type }, to, () => payloadOf(world, happening));
}

function isMeant({ isActive, events }: Hook, type: string): boolean {
  const wanted = type.replace(/(?<=^pull_request_review)_\w+$/, '');
  return isActive && events.includes(wanted);
}

/** The header names a coarser event than the subscription. */
function eventOf(type: string): string {
  if (type === 'pull_request_comment') return 'issue_comment';
  if (type === 'pull_request_label' || type === 'pull_request_sync') return 'pull_request';
  return type.replace('pull_request_review_', 'pull_request_');
}

function headersOf({ config }: Hook, type: string, body: string): Record<string, string> {
  const secret = config['secret'] ?? '';
  const sign = (algorithm: string) => (secret === '' ? '' : createHmac(algorithm, secret).update(body).digest('hex'));
  const common = { delivery: randomUUID(), event: eventOf(type), 'event-type': type };
  const signature = sign('sha256');
  const target = 'hook-installation-target-type';
  return {
    ...prefixed('x-gitea-', { ...common, signature, [target]: 'repository' }),
    ...prefixed('x-gogs-', { ...common, signature }),
    ...prefixed('x-github-', { ...common, [target]: 'repository' }),
    'x-hub-signature': `sha1=${sign('sha1')}`,
    'x-hub-signature-256': `sha256=${signature}`,
  };
}

function prefixed(prefix: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}${name}`, value]));
}

async function payloadOf(world: World, happening: Happening): Promise<View> {
  const { repository, sender } = happening;
  const ends = { repository: repositoryView(world, repository, repository.owner), sender: userView(world, sender) };
  switch (happening.type) {
    case 'push': {
      const { ref, before, after } = happening;
      return { ref, before, after, ...ends, pusher: ends.sender };
    }
    case 'create':
    case 'delete': {
      const [, kind, ref] = /^refs\/(heads|tags)\/(.*)$/s.exec(happening.ref) ?? [];
      const ref_type = kind === 'heads' ? 'branch' : 'tag';
      return happening.type === 'create'
        ? { sha: happening.sha, ref, ref_type, ...ends }
        : { ref, ref_type, pusher_type: 'user', ...ends };
    }
    case 'status': {
      const { id, sha, state, context, description, targetUrl, createdAt } = happening.status;
      const times = { created_at: timeOf(createdAt), updated_at: timeOf(createdAt) };
      const commit = await commitView(repository.gitDir, sha);
      return { commit, context, description, id, sha, state, target_url: targetUrl, ...times, ...ends };
    }
    case 'pull_request_comment': {
      const { action, pr, comment } = happening;
      const pull_request = await showPullRequest(world, pr, sender);
      return {
        action,
        issue: issueView(world, pr),
        pull_request,
        comment: commentView(world, pr, comment),
        ...ends,
        is_pull: true,
      };
    }
    default: {
      const { action, pr, review, type } = happening;
      const pull_request = await showPullRequest(world, pr, sender);
      const common = {
        action,
        number: pr.number,
        pull_request,
        requested_reviewer: review === undefined ? null : ends.sender,
        ...ends,
      };
      return { ...common, commit_id: '', review: review === undefined ? null : { type, content: review.body } };
    }
  }
}

async function showPullRequest(
  world: World,
  pr: Extract<Happening, { pr: unknown }>['pr'],
  sender: User,
): Promise<View> {
  return pullRequestView(world, pr, sender, await isClean(pr));
}

async function commitView(gitDir: string, sha: string): Promise<View> {
  const { message, author, committer } = await getCommit(gitDir, sha);
  return { id: sha, message, author: { name: author.name, email: author.email }, committer: { name: committer.name } };
}
