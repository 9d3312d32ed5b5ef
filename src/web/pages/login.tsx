import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiProblem, send } from '../core/api.ts';
import { goTo, query, route } from '../core/location.ts';
import { endedFor, providers, type Session, signIn, signOut } from '../core/session.ts';
import { retryStream } from '../core/stream.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useTitle } from '../ui/layout.tsx';
import { SignInWith, signInPath } from './sign-in-with.tsx';

/** Signs in with a token, or with the secret of a link, which is behind the # of the address. */
export function LoginPage({ org }: { readonly org?: string }) {
  useTitle('Sign in');
  const token = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const enter = async (body: object) => {
    isBusy.value = true;
    problem.value = undefined;
    try {
      const session = (await send('/web/sessions', { body })) as Session;
      signIn(session);
      if (route.value.page === 'login' || route.value.page === 'start')
        goTo(backOf(query.value) ?? `/${session.organization}`, { isReplaced: true });
    } catch (error) {
      problem.value = error instanceof ApiProblem ? error.message : String(error);
    } finally {
      isBusy.value = false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the link that the page was opened with
  useEffect(() => {
    const link = location.hash.slice(1);
    if (link === '') return;
    history.replaceState(null, '', location.pathname);
    void enter({ link });
  }, []);
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        void enter({ token: token.value.trim() });
      }}
    >
      <h1>Sign in{org === undefined ? '' : ` to ${org}`}</h1>
      <SignInWith back={backOf(query.value) ?? (org === undefined ? undefined : location.pathname + location.search)} />
      <TokenField id="token" value={token} />
      {problem.value !== undefined && (
        <p class="wrong" role="alert">
          {problem.value}
        </p>
      )}
      <button
        type="submit"
        class={providers.value.length === 0 ? 'main' : ''}
        disabled={isBusy.value || token.value.trim() === ''}
      >
        {isBusy.value ? 'Signing in …' : 'Sign in'}
      </button>
      <p class="muted">
        On the machine of the server, <code>sluice open</code> signs in without a token. An administrator makes tokens
        with <code>sluice token create --name ada --scope read</code>.
      </p>
    </form>
  );
}

/** The page that somebody wanted to see, on this server. */
function backOf(given: URLSearchParams): string | undefined {
  const back = given.get('back') ?? '';
  return /^\/(?![/\\])/.test(back) ? back : undefined;
}

function TokenField({ id, value }: { readonly id: string; readonly value: Signal<string> }) {
  return (
    <>
      <label for={id}>Token</label>
      <input
        id={id}
        type="password"
        autoComplete="current-password"
        spellcheck={false}
        placeholder="slc_…"
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
    </>
  );
}

/** Somebody may sign in on another tab instead. */
const LOOK_EVERY_MS = 2_000;

/** Asks to sign in again, above the page and what was typed there. */
// SPEC A47
export function SignInAgain({ org }: { readonly org: string }) {
  const token = useSignal('');
  useEffect(() => {
    const timer = setInterval(() => void look(org), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [org]);
  const act = async () => {
    const session = (await send('/web/sessions', { body: { token: token.value.trim() } })) as Session;
    enterAgain(session);
    if (endedFor.value === undefined) return;
    const sentence = `This token is of the organization ${session.organization}. The page is of ${org}.`;
    throw new ApiProblem('OTHER_ORGANIZATION', 0, sentence);
  };
  const leave = () => {
    if (endedFor.value === org) signOut(org);
  };
  return (
    <Dialog title="Your session has ended" action="Sign in" act={act} onDone={leave}>
      <p>Sign in again, here or on another tab. What you typed is still there.</p>
      {providers.value.map(({ key, label }) => (
        <p key={key}>
          <a href={signInPath(key, '/login')} target="_blank" rel="noopener opener">
            Sign in with {label}
          </a>
        </p>
      ))}
      <TokenField id="token-again" value={token} />
    </Dialog>
  );
}

async function look(org: string): Promise<void> {
  const { sessions: found } = (await send('/web/sessions', {}).catch(() => ({ sessions: [] }))) as Known;
  const session = found.find(({ organization, scopes }) => organization === org || scopes.includes('instance'));
  if (session !== undefined) enterAgain(session);
}

interface Known {
  readonly sessions: readonly Session[];
}

function enterAgain(session: Session): void {
  signIn(session);
  retryStream();
}
