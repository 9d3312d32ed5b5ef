import { useEffect } from 'preact/hooks';
import { call } from '../core/api.ts';
import { goTo } from '../core/location.ts';
import { useResource } from '../core/resource.ts';
import { type Repo, toPath } from '../core/route.ts';
import { publicRepositories } from '../core/session.ts';
import { isStranger } from '../core/stranger.ts';
import { Empty, Loaded } from '../ui/page-states.tsx';

interface Props {
  readonly org: string;
  readonly repo: string;
  readonly host?: string;
  readonly what: 'test' | 'pr';
  readonly id: string;
}

/** Links of answers and uploaders lack the host, or the branch. This page finds it and goes on. */
export function FindPage({ org, repo, host, what, id }: Props) {
  const found = useResource(`${org} ${repo} ${host} ${what} ${id}`, async (signal) => {
    const { repositories } = isStranger.value
      ? { repositories: publicRepositories.value.filter(({ organization }) => organization === org) }
      : await call(org, 'listRepositories', {}, { signal });
    const isIt = (each: Repo) => `${each.owner}/${each.name}` === repo && (host === undefined || each.host === host);
    const known = repositories.map((each) => each.repo).find(isIt);
    if (known === undefined || what === 'test') return { repo: known, branch: undefined };
    const { queues } = await call(org, 'listQueues', { repo: known }, { signal });
    const branches = queues.map(({ branch }) => branch);
    for (const branch of branches) {
      const body = { repo: known, targetBranch: branch, prs: [{ number: Number(id) }] };
      const { pullRequests } = await call(org, 'getSubmittedPullRequests', body, { signal });
      if (pullRequests.length > 0) return { repo: known, branch };
    }
    return { repo: known, branch: branches[0] };
  });
  const { value } = found;
  useEffect(() => {
    if (value?.repo === undefined) return;
    const place = { org, repo: value.repo };
    if (what === 'test' && id !== '') goTo(toPath({ page: 'test', ...place, testId: id }), { isReplaced: true });
    else if (what === 'test') goTo(toPath({ page: 'repo', ...place, tab: 'tests' }), { isReplaced: true });
    else if (value.branch !== undefined && /^[1-9]\d{0,8}$/.test(id)) {
      goTo(toPath({ page: 'pr', ...place, branch: value.branch, prNumber: Number(id) }), { isReplaced: true });
    }
  }, [value, org, what, id]);
  return <Loaded of={found}>{() => <Empty title={`Nothing is known of ${repo} here.`} />}</Loaded>;
}
