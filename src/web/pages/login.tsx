import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiProblem, send } from '../core/api.ts';
import { goTo, route } from '../core/location.ts';
import { type Session, signIn } from '../core/session.ts';
import { useTitle } from '../ui/layout.tsx';

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
        goTo(`/${session.organization}`, { isReplaced: true });
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
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autoComplete="current-password"
        spellcheck={false}
        placeholder="slc_…"
        value={token.value}
        onInput={(event) => {
          token.value = event.currentTarget.value;
        }}
      />
      {problem.value !== undefined && (
        <p class="wrong" role="alert">
          {problem.value}
        </p>
      )}
      <button type="submit" class="main" disabled={isBusy.value || token.value.trim() === ''}>
        {isBusy.value ? 'Signing in …' : 'Sign in'}
      </button>
      <p class="muted">
        On the machine of the server, <code>sluice open</code> signs in without a token. An administrator makes tokens
        with <code>sluice token create --name ada --scope read</code>.
      </p>
    </form>
  );
}
