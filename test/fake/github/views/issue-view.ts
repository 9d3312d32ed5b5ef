import type { PullRequest, World } from '../model.ts';
import { fullNameOf } from '../world.ts';
import { pullRequestView } from './pull-request-view.ts';

/** Every pull request is also an issue. */
export function issueView(world: World, pr: PullRequest) {
  const view = pullRequestView(world, pr);
  const api = `${world.url}/repos/${fullNameOf(pr.repository)}`;
  const self = `${api}/issues/${pr.number}`;
  const { url, html_url, diff_url, patch_url, merged_at } = view;
  return {
    url: self,
    repository_url: api,
    labels_url: `${self}/labels{/name}`,
    comments_url: `${self}/comments`,
    events_url: `${self}/events`,
    html_url,
    id: pr.id,
    node_id: pr.nodeId,
    number: pr.number,
    title: pr.title,
    user: view.user,
    labels: view.labels,
    state: pr.state,
    locked: pr.isLocked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: pr.comments.length,
    created_at: view.created_at,
    updated_at: view.updated_at,
    closed_at: view.closed_at,
    author_association: view.author_association,
    active_lock_reason: null,
    body: view.body,
    draft: pr.isDraft,
    pull_request: { url, html_url, diff_url, patch_url, merged_at },
  };
}
