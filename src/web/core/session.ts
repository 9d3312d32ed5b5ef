import { signal } from '@preact/signals';

export interface Session {
  readonly name: string;
  readonly organization: string;
  readonly scopes: readonly string[];
  readonly endsAt: string;
}

/** The sessions that this browser has. Undefined before the server told. */
export const sessions = signal<readonly Session[] | undefined>(undefined);

/** The session of an organization, or one that may act for any. */
export function sessionOf(org: string): Session | undefined {
  const all = sessions.value ?? [];
  return all.find(({ organization }) => organization === org) ?? all.find(({ scopes }) => scopes.includes('instance'));
}

/** Whether the server would allow it. `admin` includes every scope of its organization. */
export function may(org: string, scope: string): boolean {
  const scopes = sessionOf(org)?.scopes ?? [];
  return scopes.includes(scope) || (scope !== 'instance' && scopes.includes('admin'));
}

export function signIn(session: Session): void {
  sessions.value = [
    ...(sessions.value ?? []).filter(({ organization }) => organization !== session.organization),
    session,
  ];
}

/** The server no longer knows the session. */
export function signOut(org: string): void {
  sessions.value = (sessions.value ?? []).filter(({ organization }) => organization !== sessionOf(org)?.organization);
}
