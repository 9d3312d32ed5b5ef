import { signal } from '@preact/signals';
import { isAllowed, type Rights } from './rights.ts';
import type { Repo } from './route.ts';

export interface Session extends Rights {
  readonly name: string;
  readonly organization: string;
  readonly endsAt: string;
  /** The provider that proved the person. Absent for the session of a token. */
  readonly provider?: string;
}

export interface Provider {
  readonly key: string;
  readonly label: string;
}

/** Those that people sign in with. */
export const providers = signal<readonly Provider[]>([]);

export interface PublicRepository {
  readonly organization: string;
  readonly repo: Repo;
}

/** The repositories that anybody may read. */
export const publicRepositories = signal<readonly PublicRepository[]>([]);

/** The organization whose session has ended while its page is open. The page stays as it is, and asks to sign in. */
export const endedFor = signal<string | undefined>(undefined);

/** The sessions that this browser has. Undefined before the server told. */
export const sessions = signal<readonly Session[] | undefined>(undefined);

/** The session of an organization, or one that may act for any. */
export function sessionOf(org: string): Session | undefined {
  const all = sessions.value ?? [];
  return all.find(({ organization }) => organization === org) ?? all.find(({ scopes }) => scopes.includes('instance'));
}

/** Whether the server would allow it, for the pull request of an author if one is given. */
export function may(of: { readonly org: string; readonly repo?: Repo }, scope: string, author?: string): boolean {
  const session = sessionOf(of.org);
  const { repo } = of;
  return session !== undefined && isAllowed(session, scope, { ...(repo && { repo }), ...(author && { author }) });
}

export function signIn(session: Session): void {
  const { organization, scopes } = session;
  const ended = endedFor.value;
  const isReplaced = organization === ended || scopes.includes('instance');
  const others = (sessions.value ?? []).filter((each) => each.organization !== organization);
  sessions.value = [...others.filter((each) => !isReplaced || each.organization !== ended), session];
  if (isReplaced) endedFor.value = undefined;
}

/** The server no longer knows the session. What was typed stays on the page. */
// SPEC A47
export function noteEnd(org: string): void {
  if (sessionOf(org) !== undefined) endedFor.value = org;
}

export function signOut(org: string): void {
  endedFor.value = undefined;
  sessions.value = (sessions.value ?? []).filter(({ organization }) => organization !== sessionOf(org)?.organization);
}
