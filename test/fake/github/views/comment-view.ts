import type { Comment, PullRequest, Reaction, World } from '../model.ts';
import { fullNameOf } from '../world.ts';
import { associationOf } from './pull-request-view.ts';
import { timeView } from './time.ts';
import { appView, userView } from './user-view.ts';

export function commentView(world: World, { repository, number }: PullRequest, comment: Comment) {
  const api = `${world.url}/repos/${fullNameOf(repository)}/issues`;
  const url = `${api}/comments/${comment.id}`;
  return {
    url,
    html_url: `${world.url}/${fullNameOf(repository)}/pull/${number}#issuecomment-${comment.id}`,
    issue_url: `${api}/${number}`,
    id: comment.id,
    node_id: comment.nodeId,
    user: userView(world, comment.author),
    created_at: timeView(comment.createdAt),
    updated_at: timeView(comment.updatedAt),
    body: comment.body,
    author_association: associationOf(repository, comment.author),
    reactions: rollup(comment, url),
    performed_via_github_app: comment.app === undefined ? null : appView(world, comment.app),
  };
}

function rollup({ reactions }: Comment, url: string) {
  const count = (content: Reaction['content']) => reactions.filter((reaction) => reaction.content === content).length;
  return {
    url: `${url}/reactions`,
    total_count: reactions.length,
    '+1': count('+1'),
    '-1': count('-1'),
    laugh: count('laugh'),
    hooray: count('hooray'),
    confused: count('confused'),
    heart: count('heart'),
    rocket: count('rocket'),
    eyes: count('eyes'),
  };
}

export function reactionView(world: World, { id, nodeId, user, content, createdAt }: Reaction) {
  return { id, node_id: nodeId, user: userView(world, user), content, created_at: timeView(createdAt) };
}
