import { runGit } from '../contract/plain-repository.ts';
import type { Conversation } from './conversation.ts';

export const SECRET = 'the secret of the hook';
const APP = '/repos/acme/app';

/** The life of a few pull requests, told to a Gitea. */
export async function tellStory(talk: Conversation): Promise<void> {
  const { people } = talk;
  const { gitea } = people;
  const pr = (number: number) => people.get('root', 'GET', `${APP}/pulls/${number}`);
  const commit = async (
    login: string,
    name: string,
    from: string | undefined,
    branch: string,
    files: Record<string, string>,
  ) => {
    const sha = await people.commit(login, name, `refs/heads/${branch}`, from, {
      files,
      message: `Change ${branch}`,
      author: login,
    });
    talk.know(sha, `${branch} ${Object.keys(files).join(' ')}`);
    return sha;
  };

  for (const login of ['ada', 'eve', 'bot']) await people.tokenOf(login);
  await talk.say('version', 'eve', 'GET', '/version');
  await talk.say('oneself', 'bot', 'GET', '/user');
  await people.get('root', 'POST', '/orgs', { username: 'acme' });
  await tellOfTokens(talk);
  await talk.say('create a repository', 'root', 'POST', '/orgs/acme/repos', { name: 'old', default_branch: 'main' });
  await talk.say('a name that is taken', 'root', 'POST', '/orgs/acme/repos', { name: 'old' });
  const renamed = await talk.say('rename it', 'root', 'PATCH', '/repos/acme/old', {
    name: 'app',
    allow_manual_merge: true,
    autodetect_manual_merge: true,
  });
  await talk.say('its former name', 'eve', 'GET', '/repos/acme/old');
  await talk.say('its former name, with more behind it', 'eve', 'GET', '/repos/acme/old/pulls?state=open');
  await talk.say('its id', 'eve', 'GET', `/repositories/${renamed.body.id}`);
  await talk.say('no such id', 'eve', 'GET', '/repositories/987654');
  await talk.say('no such repository', 'eve', 'GET', '/repos/acme/none');

  await talk.say('a collaborator', 'root', 'PUT', `${APP}/collaborators/ada`, { permission: 'write' });
  await people.get('root', 'PUT', `${APP}/collaborators/bot`, { permission: 'admin' });
  for (const login of ['ada', 'eve', 'bot', 'root', 'nobody-here'])
    await talk.say(`permission of ${login}`, 'bot', 'GET', `${APP}/collaborators/${login}/permission`);
  await talk.say('permission of another, asked by a writer', 'ada', 'GET', `${APP}/collaborators/eve/permission`);
  await talk.say('protection, asked by a writer', 'ada', 'GET', `${APP}/branch_protections`);
  await talk.say('hooks, asked by a writer', 'ada', 'GET', `${APP}/hooks`);

  const config = { url: `${talk.receiver.url}/hook`, content_type: 'json', secret: SECRET };
  const events = ['push', 'create', 'delete', 'pull_request', 'status'];
  const hook = await talk.say('create a hook', 'bot', 'POST', `${APP}/hooks`, {
    type: 'gitea',
    config,
    events,
    active: true,
  });
  await talk.say('a hook without an address', 'bot', 'POST', `${APP}/hooks`, {
    type: 'gitea',
    config: { content_type: 'json' },
  });
  await talk.say('list hooks', 'bot', 'GET', `${APP}/hooks`);
  await talk.say('edit the hook', 'bot', 'PATCH', `${APP}/hooks/${hook.body.id}`, { events, active: true });

  const main = await commit('root', 'acme/app', undefined, 'main', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await talk.hear('create');
  await talk.hear('push');
  await talk.wait(
    'the branch',
    () => people.ask('eve', 'GET', `${APP}/branches/main`),
    ({ status }) => status === 200,
  );
  await talk.say('a branch', 'eve', 'GET', `${APP}/branches/main`);
  await talk.say('the folder of a commit', 'eve', 'GET', `${APP}/git/trees/${main}`);
  await talk.say('the folder of no commit', 'eve', 'GET', `${APP}/git/trees/${'d'.repeat(40)}`);
  await talk.say('a file', 'eve', 'GET', `${APP}/contents/a.txt?ref=main`);
  await talk.say('no such file', 'eve', 'GET', `${APP}/contents/none/at-all.txt?ref=main`);
  await talk.say('delete the default branch', 'bot', 'DELETE', `${APP}/branches/main`);
  await talk.say('no such branch', 'eve', 'GET', `${APP}/branches/none`);
  await people.get('eve', 'POST', `${APP}/forks`, {});
  const one = await commit('ada', 'acme/app', main, 'one', { 'one.txt': '1\n' });
  await commit('eve', 'eve/app', main, 'two', { 'two.txt': '2\n' });

  // Opening, reading, editing.
  await talk.say('open a pull request', 'ada', 'POST', `${APP}/pulls`, {
    head: 'one',
    base: 'main',
    title: 'One',
    body: 'Why.',
  });
  await talk.hear('pull_request', 'opened');
  await talk.say('open it again', 'ada', 'POST', `${APP}/pulls`, { head: 'one', base: 'main', title: 'One' });
  await talk.say('open one from no branch', 'ada', 'POST', `${APP}/pulls`, {
    head: 'none',
    base: 'main',
    title: 'None',
  });
  await people.get('eve', 'POST', `${APP}/pulls`, { head: 'eve:two', base: 'main', title: 'Two' });
  await talk.wait(
    'both are checked',
    () => Promise.all([pr(1), pr(2)]),
    (all) => all.every(({ mergeable }) => mergeable),
  );
  await talk.say('read it', 'bot', 'GET', `${APP}/pulls/1`);
  await talk.say('read one of a fork', 'bot', 'GET', `${APP}/pulls/2`);
  await talk.say('read none', 'bot', 'GET', `${APP}/pulls/99`);
  await talk.say('make it a draft', 'ada', 'PATCH', `${APP}/pulls/1`, { title: 'WIP: One' });
  await talk.merge('merge a draft', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge' });
  await people.get('ada', 'PATCH', `${APP}/pulls/1`, { title: 'One' });
  await talk.hear('pull_request', 'edited');
  await talk.say('a page of open ones', 'bot', 'GET', `${APP}/pulls?state=open&sort=oldest&limit=1&page=2`);

  // Comments and labels.
  const comment = await talk.say('comment', 'eve', 'POST', `${APP}/issues/1/comments`, { body: '/sluice merge' });
  await talk.hear('pull_request_comment', 'created');
  await talk.say('read the comment', 'bot', 'GET', `${APP}/issues/comments/${comment.body.id}`);
  await talk.say('react', 'bot', 'POST', `${APP}/issues/comments/${comment.body.id}/reactions`, { content: '+1' });
  await talk.say('react again', 'bot', 'POST', `${APP}/issues/comments/${comment.body.id}/reactions`, {
    content: '+1',
  });
  await talk.say('edit it', 'eve', 'PATCH', `${APP}/issues/comments/${comment.body.id}`, { body: 'No.' });
  await talk.hear('pull_request_comment', 'edited');
  await talk.say('edit another one', 'ada', 'PATCH', `${APP}/issues/comments/${comment.body.id}`, { body: 'Mine.' });
  await talk.say('all comments', 'bot', 'GET', `${APP}/issues/1/comments`);
  await talk.say('comments of the repository', 'bot', 'GET', `${APP}/issues/comments`);
  await talk.say('no such comment', 'bot', 'PATCH', `${APP}/issues/comments/987654`, { body: 'x' });
  const label = await talk.say('create a label', 'bot', 'POST', `${APP}/labels`, { name: 'land', color: '#00aabb' });
  await talk.say('labels', 'bot', 'GET', `${APP}/labels`);
  await talk.say('add a label', 'ada', 'POST', `${APP}/issues/1/labels`, { labels: [label.body.id] });
  await talk.hear('pull_request_label', 'label_updated');
  await talk.say('add a label that is not there', 'ada', 'POST', `${APP}/issues/1/labels`, { labels: [987654] });
  await talk.say('remove the label', 'ada', 'DELETE', `${APP}/issues/1/labels/${label.body.id}`);
  await talk.hear('pull_request_label', 'label_updated');
  await talk.say('remove it again', 'ada', 'DELETE', `${APP}/issues/1/labels/${label.body.id}`);
  await talk.say('the timeline', 'bot', 'GET', `${APP}/issues/1/timeline`);
  await talk.say('the timeline of another', 'bot', 'GET', `${APP}/issues/2/timeline`);

  // Protection, statuses, reviews.
  const rule = { rule_name: 'main', enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: ['bot'] };
  await talk.say('protect', 'bot', 'POST', `${APP}/branch_protections`, {
    ...rule,
    enable_status_check: true,
    status_check_contexts: ['ci/*'],
  });
  for (const login of ['bot', 'ada', 'eve'])
    await talk.say(`the branch, seen by ${login}`, login, 'GET', `${APP}/branches/main`);
  await talk.push('push to a protected branch', 'ada', 'acme/app', `${one}:refs/heads/main`);
  await talk.push('delete a protected branch', 'bot', 'acme/app', ':refs/heads/main');
  await talk.push('push as a reader', 'eve', 'acme/app', `${one}:refs/heads/eve`);
  await talk.push('push to a pull request', 'bot', 'acme/app', `+${main}:refs/pull/1/head`);
  await talk.push('push a ref of our own', 'bot', 'acme/app', `${one}:refs/sluice/candidates/one`);
  await talk.say('protect again', 'bot', 'POST', `${APP}/branch_protections`, rule);
  await talk.merge('merge without statuses', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge' });
  const report = (state: string, context: string) => ({
    state,
    context,
    description: `It is ${state}.`,
    target_url: 'https://ci.example.test/1',
  });
  await talk.say('a status', 'ada', 'POST', `${APP}/statuses/${one}`, report('pending', 'ci/unit'));
  await talk.hear('status');
  await talk.say('a later status', 'bot', 'POST', `${APP}/statuses/${one}`, report('success', 'ci/unit'));
  await talk.hear('status');
  await talk.say('another context', 'bot', 'POST', `${APP}/statuses/${one}`, report('warning', 'lint'));
  await talk.say('a status by a reader', 'eve', 'POST', `${APP}/statuses/${one}`, report('success', 'ci/unit'));
  await talk.say('a state of its own', 'bot', 'POST', `${APP}/statuses/${one}`, report('cancelled', 'odd'));
  await talk.say(
    'a status of no commit',
    'bot',
    'POST',
    `${APP}/statuses/${'d'.repeat(40)}`,
    report('success', 'ci/unit'),
  );
  await talk.say('all statuses', 'bot', 'GET', `${APP}/commits/${one}/statuses?sort=leastindex`);
  await talk.say('want an approval', 'bot', 'PATCH', `${APP}/branch_protections/main`, {
    required_approvals: 1,
    block_on_rejected_reviews: true,
  });
  await talk.merge('merge without approval', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge' });
  await talk.say('approve the own one', 'ada', 'POST', `${APP}/pulls/1/reviews`, { event: 'APPROVED' });
  await talk.say('approve as a reader', 'eve', 'POST', `${APP}/pulls/1/reviews`, { event: 'APPROVED', body: 'Fine.' });
  await talk.hear('pull_request_review_approved', 'reviewed');
  await talk.say('reject', 'bot', 'POST', `${APP}/pulls/1/reviews`, { event: 'REQUEST_CHANGES', body: 'No.' });
  await talk.hear('pull_request_review_rejected', 'reviewed');
  await talk.say('approve after all', 'bot', 'POST', `${APP}/pulls/1/reviews`, { event: 'APPROVED' });
  await talk.say('all reviews', 'bot', 'GET', `${APP}/pulls/1/reviews`);
  await talk.say('read the protection', 'bot', 'GET', `${APP}/branch_protections/main`);

  // A push makes reviews stale.
  const moved = await commit('ada', 'acme/app', one, 'one', { 'one.txt': '1 and more\n' });
  await talk.hear('pull_request_sync', 'synchronized');
  await talk.wait(
    'the head',
    () => pr(1),
    ({ head, mergeable }) => head.sha === moved && mergeable,
  );
  await talk.say('reviews after a push', 'bot', 'GET', `${APP}/pulls/1/reviews`);

  // Merging.
  await talk.merge('merge without a status of the new head', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge' });
  await people.get('bot', 'POST', `${APP}/statuses/${moved}`, report('success', 'ci/unit'));
  await talk.merge('merge another head', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge', head_commit_id: one });
  await talk.merge('merge as a reader', 'eve', `${APP}/pulls/1/merge`, { Do: 'merge' });
  await talk.merge('merge', 'bot', `${APP}/pulls/1/merge`, {
    Do: 'merge',
    head_commit_id: moved,
    MergeTitleField: 'Land one',
  });
  await talk.hear('pull_request', 'closed');
  await talk.say('the merged one', 'bot', 'GET', `${APP}/pulls/1`);
  await talk.merge('merge it again', 'bot', `${APP}/pulls/1/merge`, { Do: 'merge' });
  await talk.push('force a protected branch', 'bot', 'acme/app', `+${main}:refs/heads/main`);
  await talk.say('delete a branch', 'bot', 'DELETE', `${APP}/branches/one`);
  await talk.hear('delete');
  await talk.say('delete it again', 'bot', 'DELETE', `${APP}/branches/one`);
  await talk.say('unprotect', 'bot', 'DELETE', `${APP}/branch_protections/main`);

  // Two merges in one push: only the last one is noticed.
  const landed: string = (await people.get('bot', 'GET', `${APP}/branches/main`)).commit.id;
  for (const name of ['three', 'four']) {
    await commit('ada', 'acme/app', landed, name, { [`${name}.txt`]: `${name}\n` });
    await people.get('ada', 'POST', `${APP}/pulls`, { head: name, base: 'main', title: name });
  }
  const gitDir = gitea.gitDirOf('acme/app');
  const last = await mergeBranches(gitDir, landed, ['three', 'four']);
  await people.push('bot', 'acme/app', gitDir, `${last.at(-1)}:refs/heads/main`);
  await talk.wait(
    'the last one is noticed',
    () => pr(4),
    ({ merged }) => merged,
  );
  const isChecked = (shown: { mergeable: boolean; merge_base: string; head: { sha: string } }) =>
    shown.mergeable && shown.merge_base === shown.head.sha;
  await talk.wait('the first one is checked', () => pr(3), isChecked);
  await talk.say('the first of two', 'bot', 'GET', `${APP}/pulls/3`);
  await talk.say('the last of two', 'bot', 'GET', `${APP}/pulls/4`);
  await talk.say('settle with no commit', 'bot', 'POST', `${APP}/pulls/3/merge`, {
    Do: 'manually-merged',
    MergeCommitID: 'd'.repeat(40),
  });
  await talk.say('settle', 'bot', 'POST', `${APP}/pulls/3/merge`, { Do: 'manually-merged', MergeCommitID: last[0] });
  await talk.say('the settled one', 'bot', 'GET', `${APP}/pulls/3`);

  // Conflicts, closing, deleting.
  const now: string = (await people.get('bot', 'GET', `${APP}/branches/main`)).commit.id;
  await commit('ada', 'acme/app', now, 'five', { 'a.txt': 'five\n' });
  await people.get('ada', 'POST', `${APP}/pulls`, { head: 'five', base: 'main', title: 'Five' });
  await talk.wait(
    'it is checked',
    () => pr(5),
    ({ mergeable }) => mergeable,
  );
  await commit('root', 'acme/app', now, 'main', { 'a.txt': 'theirs\n' });
  await talk.wait(
    'the conflict',
    () => pr(5),
    ({ mergeable }) => !mergeable,
  );
  await talk.say('merge a conflict', 'bot', 'POST', `${APP}/pulls/5/merge`, { Do: 'merge' });
  await talk.say('close', 'ada', 'PATCH', `${APP}/pulls/5`, { state: 'closed' });
  await talk.say('merge a closed one', 'bot', 'POST', `${APP}/pulls/5/merge`, { Do: 'merge' });
  await talk.say('reopen', 'ada', 'PATCH', `${APP}/pulls/5`, { state: 'open' });
  await talk.hear('pull_request', 'reopened');
  await people.push('ada', 'acme/app', gitDir, ':refs/heads/five');
  await talk.hear('delete');
  await talk.wait(
    'it closes with its branch',
    () => pr(5),
    ({ state }) => state === 'closed',
  );
  await talk.say('the branch is gone', 'bot', 'GET', `${APP}/pulls/5`);
  await people.get('eve', 'DELETE', '/repos/eve/app');
  await talk.say('the fork is gone', 'bot', 'GET', `${APP}/pulls/2`);
  await tellOfBases(talk, { commit, pr });
}

interface Acts {
  commit(
    login: string,
    name: string,
    from: string | undefined,
    branch: string,
    files: Record<string, string>,
  ): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: as Gitea answers
  pr(number: number): Promise<any>;
}

/** One pull request on the branch of another, and how its base changes. */
async function tellOfBases(talk: Conversation, { commit, pr }: Acts): Promise<void> {
  const { people } = talk;
  const main: string = (await people.get('bot', 'GET', `${APP}/branches/main`)).commit.id;
  const six = await commit('ada', 'acme/app', main, 'six', { 'six.txt': '6\n' });
  await commit('ada', 'acme/app', six, 'seven', { 'seven.txt': '7\n' });
  for (const [head, base] of [
    ['six', 'main'],
    ['seven', 'six'],
  ])
    await talk.wait(
      `a pull request of ${head}`,
      () => people.ask('ada', 'POST', `${APP}/pulls`, { head, base, title: head }),
      ({ status }) => status === 201,
    );
  const change = (name: string, base: string) => talk.say(name, 'bot', 'PATCH', `${APP}/pulls/7`, { base });
  const isChecked = ({ mergeable }: { mergeable: boolean }) => mergeable;
  await talk.wait('the upper one is checked', () => pr(7), isChecked);
  await change('change the base to no branch', 'none');
  await change('change the base', 'main');
  await change('change it again', 'main');
  const twin = { head: 'seven', base: 'six', title: 'Twin' };
  await people.get('ada', 'POST', `${APP}/pulls`, twin);
  await change('change it to that of another', 'six');
  await people.get('ada', 'PATCH', `${APP}/pulls/8`, { state: 'closed' });
  await change('change it back', 'six');
  await people.get('ada', 'PATCH', `${APP}/pulls/7`, { state: 'closed' });
  await change('change that of a closed one', 'main');
  await people.get('ada', 'PATCH', `${APP}/pulls/7`, { state: 'open' });
  await people.push('ada', 'acme/app', people.gitea.gitDirOf('acme/app'), ':refs/heads/six');
  await talk.wait(
    'the base is gone',
    () => pr(7),
    ({ base, mergeable }) => base.ref === 'main' && mergeable,
  );
  await talk.say('its base is the default branch', 'bot', 'GET', `${APP}/pulls/7`);
}

/** Merges branches one after the other, and answers each merge. */
async function mergeBranches(gitDir: string, base: string, branches: readonly string[]): Promise<readonly string[]> {
  const merges: string[] = [];
  for (const branch of branches) {
    const parent = merges.at(-1) ?? base;
    const tree = await runGit(gitDir, ['merge-tree', '--write-tree', parent, branch]);
    merges.push(await runGit(gitDir, ['commit-tree', '-p', parent, '-p', branch, '-m', `Merge ${branch}`, tree]));
  }
  return merges;
}

/** Tokens that are wrong, missing or too weak, and a repository that others may not see. */
async function tellOfTokens(talk: Conversation): Promise<void> {
  const { people } = talk;
  await people.get('ada', 'POST', '/user/repos', { name: 'hidden', private: true });
  const weak = await people.createToken('ada', ['read:repository']);
  await talk.sayWith('d'.repeat(40), 'a wrong token', '/user');
  await talk.sayWith(undefined, 'no token', '/user');
  await talk.sayWith(undefined, 'no token for a private repository', '/repos/ada/hidden');
  await talk.say('a private repository of another', 'eve', 'GET', '/repos/ada/hidden');
  await talk.sayWith(weak, 'a token for repositories', '/repos/ada/hidden/pulls');
  await talk.sayWith(weak, 'a token that may not read the account', '/user');
  await talk.sayWith(weak, 'a token that may not read issues', '/repos/ada/hidden/issues/comments');
  await talk.sayWith(weak, 'a token that may not write', '/repos/ada/hidden/statuses/main', { state: 'success' });
}
