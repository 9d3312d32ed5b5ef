import type { App, Installation, User, World } from '../model.ts';
import { maybeTime, timeView } from './time.ts';

/** `hooks issues{/number}` are the links `hooks_url` and `issues_url`. */
export function namedLinks(words: string): Readonly<Record<string, string>> {
  return Object.fromEntries(words.split(/\s+/).map((word) => [`${word.replace(/\{.*/, '')}_url`, word]));
}

export function prefixed(self: string, links: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(links).map(([name, path]) => [name, `${self}/${path}`]));
}

const LINKS = namedLinks(
  'followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions repos events{/privacy} received_events',
);

export function userView({ url }: World, { id, nodeId, login, type }: User) {
  const self = `${url}/users/${login}`;
  const page = type === 'Bot' ? `${url}/apps/${login.replace('[bot]', '')}` : `${url}/${login}`;
  return {
    login,
    id,
    node_id: nodeId,
    avatar_url: `${url}/avatars/u/${id}`,
    gravatar_id: '',
    url: self,
    html_url: page,
    organizations_url: `${self}/orgs`,
    ...prefixed(self, LINKS),
    type,
    site_admin: false,
    user_view_type: 'public',
  };
}

export function publicUserView(world: World, user: User) {
  return {
    ...userView(world, user),
    name: user.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: timeView(0),
    updated_at: timeView(0),
  };
}

export function appView(world: World, app: App) {
  return {
    id: app.id,
    client_id: app.clientId,
    slug: app.slug,
    node_id: app.nodeId,
    owner: userView(world, app.owner),
    name: app.name,
    description: '',
    external_url: 'https://example.test',
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: timeView(app.createdAt),
    updated_at: timeView(app.createdAt),
    permissions: app.permissions,
    events: app.events,
  };
}

export function installationView(world: World, installation: Installation) {
  const { id, app, account, repositoryIds, permissions, events, createdAt, suspendedAt } = installation;
  return {
    id,
    client_id: app.clientId,
    account: userView(world, account),
    repository_selection: repositoryIds === undefined ? 'all' : 'selected',
    access_tokens_url: `${world.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/organizations/${account.login}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions,
    events,
    created_at: timeView(createdAt),
    updated_at: timeView(createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspendedAt === undefined ? null : userView(world, account),
    suspended_at: maybeTime(suspendedAt),
  };
}
