import type { Commit, Person } from '../../hosted/git.ts';
import type { Repository, World } from '../model.ts';
import { fullNameOf, nodeId } from '../world.ts';
import { timeView } from './time.ts';

export function commitView(world: World, repository: Repository, commit: Commit) {
  const { sha, tree, parents, author, committer, message } = commit;
  const api = `${world.url}/repos/${fullNameOf(repository)}`;
  const page = `${world.url}/${fullNameOf(repository)}/commit`;
  return {
    sha,
    node_id: nodeId('C', Number.parseInt(sha.slice(0, 8), 16)),
    commit: {
      author: personView(author),
      committer: personView(committer),
      message,
      tree: { sha: tree, url: `${api}/git/trees/${tree}` },
      url: `${api}/git/commits/${sha}`,
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    url: `${api}/commits/${sha}`,
    html_url: `${page}/${sha}`,
    comments_url: `${api}/commits/${sha}/comments`,
    author: null,
    committer: null,
    parents: parents.map((parent) => ({
      sha: parent,
      url: `${api}/commits/${parent}`,
      html_url: `${page}/${parent}`,
    })),
  };
}

function personView({ name, email, at }: Person) {
  return { name, email, date: timeView(at) };
}
