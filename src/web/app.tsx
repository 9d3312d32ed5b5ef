import { useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from './core/api.ts';
import { now, past } from './core/clock.ts';
import { goTo, query, route } from './core/location.ts';
import { repoKey } from './core/places.ts';
import type { Route } from './core/route.ts';
import {
  endedFor,
  type Provider,
  type PublicRepository,
  providers,
  publicRepositories,
  type Session,
  sessionOf,
  sessions,
} from './core/session.ts';
import { isStranger } from './core/stranger.ts';
import { followStream, leaveStream, streamState } from './core/stream.ts';
import { Keyboard } from './keyboard.tsx';
import { formatExact } from './model/time.ts';
import { FindPage } from './pages/find.tsx';
import { HomePage } from './pages/home.tsx';
import { LoginPage, SignInAgain } from './pages/login.tsx';
import { PullRequestPage } from './pages/pull-request/pull-request.tsx';
import { QueuePage } from './pages/queue/queue.tsx';
import { lazy } from './ui/lazy.tsx';
import { Empty, Loading } from './ui/page-states.tsx';
import { TopBar } from './ui/top-bar.tsx';

const REPO_TABS = {
  tests: lazy(async () => (await import('./pages/tests/tests.tsx')).TestsPage),
  flakes: lazy(async () => (await import('./pages/flakes/flakes.tsx')).FlakesPage),
  uploads: lazy(async () => (await import('./pages/uploads/uploads.tsx')).UploadsPage),
};
const TestPage = lazy(async () => (await import('./pages/test/test.tsx')).TestPage);

const AuditPage = lazy(async () => (await import('./pages/audit/audit.tsx')).AuditPage);
const SetupPage = lazy(async () => (await import('./pages/setup/setup.tsx')).SetupPage);

export function App() {
  useEffect(() => {
    void loadSessions();
  }, []);
  useSignalEffect(() => {
    const { value } = route;
    const who = 'org' in value ? (sessionOf(value.org)?.name ?? (isStranger.value ? '' : undefined)) : undefined;
    if ('org' in value && who !== undefined) followStream({ org: value.org, who });
    else leaveStream();
  });
  useSignalEffect(() => {
    const at = Date.parse(query.value.get('at') ?? '');
    past.value = Number.isNaN(at) ? undefined : at;
  });
  const shown = route.value;
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <TopBar />
      <Line />
      <main id="main" tabIndex={-1}>
        <Printed />
        <Page shown={shown} />
      </main>
      <Keyboard />
      {endedFor.value !== undefined && <SignInAgain org={endedFor.value} />}
    </>
  );
}

interface Known {
  readonly sessions: readonly Session[];
  readonly publicRepositories: readonly PublicRepository[];
  readonly providers: readonly Provider[];
}

/** A link may have signed in meanwhile. */
async function loadSessions(): Promise<void> {
  try {
    const { sessions: found, publicRepositories: open, providers: known } = (await send('/web/sessions', {})) as Known;
    providers.value = known;
    publicRepositories.value = open;
    const begun = sessions.value ?? [];
    const isOlder = ({ organization }: Session) => begun.every((session) => session.organization !== organization);
    sessions.value = [...found.filter(isOlder), ...begun];
  } catch {
    setTimeout(() => void loadSessions(), 2_000);
  }
}

/** The first line on paper. */
function Printed() {
  return (
    <p class="printed">
      {location.href}, printed {formatExact(now.value)}
    </p>
  );
}

/** Says so while the line to the server is gone. */
function Line() {
  const isGone = streamState.value === 'offline' && sessions.value !== undefined;
  return (
    <div class={`line-gone${isGone ? ' shown' : ''}`} role="status">
      {isGone ? 'The server cannot be reached. What you see may be old; the page comes back by itself.' : ''}
    </div>
  );
}

function Page({ shown }: { readonly shown: Route }) {
  if (shown.page === 'login') return <LoginPage />;
  if (sessions.value === undefined) return <Loading lines={6} />;
  if (shown.page === 'start') return <StartPage />;
  if (shown.page === 'unknown') return <NotFound path={shown.path} />;
  if (sessionOf(shown.org) === undefined && !isStranger.value) return <LoginPage org={shown.org} />;
  switch (shown.page) {
    case 'home':
      return <HomePage org={shown.org} />;
    case 'find':
      return <FindPage {...shown} />;
    case 'pr':
      return <PullRequestPage key={`${shown.prNumber}`} {...withoutPage(shown)} />;
    case 'queue':
      return <QueuePage {...withoutPage(shown)} />;
    case 'repo': {
      const Tab = REPO_TABS[shown.tab];
      return <Tab key={`${repoKey(shown)} ${shown.tab}`} org={shown.org} repo={shown.repo} />;
    }
    case 'test':
      return <TestPage key={`${repoKey(shown)} ${shown.testId}`} {...withoutPage(shown)} />;
    case 'org':
      return shown.tab === 'audit' ? <AuditPage org={shown.org} /> : <SetupPage org={shown.org} />;
    default:
      return <NotFound path={location.pathname} />;
  }
}

/** The place alone: pages spread it into routes of other pages. */
function withoutPage<Shown extends Route>({ page: _, ...place }: Shown): Omit<Shown, 'page'> {
  return place;
}

/** The organization of the person, or the first one that has public repositories. */
function StartPage() {
  const [first] = [...(sessions.value ?? []), ...publicRepositories.value];
  useEffect(() => {
    if (first !== undefined) goTo(`/${first.organization}`, { isReplaced: true });
  }, [first]);
  return first === undefined ? <LoginPage /> : <Loading lines={3} />;
}

function NotFound({ path }: { readonly path: string }) {
  return (
    <Empty title="There is no such page.">
      <p>
        <code>{path}</code> leads nowhere. <a href="/">All queues</a>
      </p>
    </Empty>
  );
}
