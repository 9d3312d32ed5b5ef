// The fields that Sluice or a test reads. `completeAnswer` adds the others that GitHub's description requires.
import type { App, Installation, User } from '../model.ts';

/** GitHub writes timestamps in whole seconds. */
export function timeView(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}

export function maybeTime(instant: number | undefined): string | null {
  return instant === undefined ? null : timeView(instant);
}

export function userView({ id, login, type }: User) {
  return { login, id, type };
}

export function appView({ id, clientId, slug, owner, name, permissions, events }: App) {
  return { id, client_id: clientId, slug, owner: userView(owner), name, permissions, events };
}

export function installationView(installation: Installation) {
  const { id, app, account, repositoryIds, permissions, events, suspendedAt } = installation;
  return {
    id,
    account: userView(account),
    repository_selection: repositoryIds === undefined ? 'all' : 'selected',
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions,
    events,
    suspended_by: suspendedAt === undefined ? null : userView(account),
    suspended_at: maybeTime(suspendedAt),
  };
}
