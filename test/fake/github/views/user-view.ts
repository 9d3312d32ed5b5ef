import type { App, Installation, User, World } from '../model.ts';
import { maybeTime, timeView } from './time.ts';

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
    followers_url: `${self}/followers`,
    following_url: `${self}/following{/other_user}`,
    gists_url: `${self}/gists{/gist_id}`,
    starred_url: `${self}/starred{/owner}{/repo}`,
    subscriptions_url: `${self}/subscriptions`,
    organizations_url: `${self}/orgs`,
    repos_url: `${self}/repos`,
    events_url: `${self}/events{/privacy}`,
    received_events_url: `${self}/received_events`,
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
