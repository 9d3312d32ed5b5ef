import { send } from '../core/api.ts';
import { goTo, route } from '../core/location.ts';
import { openSearch } from '../core/opened.ts';
import { roleIn } from '../core/rights.ts';
import { type Session, sessionOf, signOut } from '../core/session.ts';
import { isStranger } from '../core/stranger.ts';
import { streamState } from '../core/stream.ts';
import { switchTheme, theme } from '../core/theme.ts';

const LINE: Readonly<Record<string, string>> = {
  live: 'Live: changes show by themselves',
  connecting: 'Connecting',
  offline: 'The server cannot be reached',
  refused: 'Not live: the server refuses the stream',
};

/** The role in the repository that is shown, or in the organization. */
function describeRole(session: Session): string {
  const shown = route.value;
  const repo = 'repo' in shown && typeof shown.repo === 'object' ? shown.repo : undefined;
  const role = roleIn(session, repo);
  if (role !== undefined) return `Role: ${role}${repo === undefined ? '' : ` of ${repo.owner}/${repo.name}`}`;
  const count = session.repositories?.length ?? 0;
  return `A role in ${count} ${count === 1 ? 'repository' : 'repositories'}`;
}

export function TopBar() {
  const shown = route.value;
  const org = 'org' in shown ? shown.org : undefined;
  const session = org === undefined ? undefined : sessionOf(org);
  const leave = async () => {
    if (org === undefined || session === undefined) return;
    const body = { organization: session.organization };
    const { signOutUrl } = (await send('/web/sessions/end', { body })) as { readonly signOutUrl?: string };
    signOut(org);
    if (signOutUrl === undefined) goTo('/login');
    else location.assign(signOutUrl);
  };
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="Sluice: all queues">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <rect width="20" height="20" rx="5" />
          <path d="M5 6h10M5 10h10M5 14h6" />
        </svg>
        Sluice
      </a>
      <span class="grow" />
      {session !== undefined && (
        <button type="button" class="find" onClick={openSearch} aria-label="Search">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="7" cy="7" r="4.5" />
            <path d="M10.5 10.5L14 14" />
          </svg>
          <span>Search</span> <kbd>/</kbd>
        </button>
      )}
      {(session !== undefined || isStranger.value) && (
        <span class={`stream ${streamState.value}`} title={LINE[streamState.value]}>
          <span class="dot" aria-hidden="true" />
          <span class="word">{streamState.value}</span>
        </span>
      )}
      <button type="button" class="plain" onClick={switchTheme} title="Switch between system, light and dark">
        {theme.value === 'system' ? 'auto' : theme.value}
      </button>
      <a class="plain" href="/docs/README.md">
        Docs
      </a>
      {isStranger.value && (
        <a class="plain" href={`/login?back=${encodeURIComponent(location.pathname + location.search)}`}>
          Sign in
        </a>
      )}
      {session !== undefined && (
        <details class="menu">
          <summary>{session.name}</summary>
          <div>
            <p>
              <strong>{session.name}</strong> of {session.organization}
            </p>
            {session.provider === undefined ? (
              <p class="muted">May: {session.scopes.join(', ')}</p>
            ) : (
              <p class="muted">{describeRole(session)}</p>
            )}
            <button type="button" onClick={() => void leave()}>
              Sign out
            </button>
          </div>
        </details>
      )}
    </header>
  );
}
