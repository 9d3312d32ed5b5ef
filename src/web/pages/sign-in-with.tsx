import { query } from '../core/location.ts';
import { providers } from '../core/session.ts';

/** Sentences for the ways in which a sign-in with a provider ends without a session. */
const SENTENCES: Readonly<Record<string, string>> = {
  unavailable: 'does not answer now. Try again in a minute, or sign in with a token.',
  denied: 'did not let you in.',
  refused: 'sent an answer that proves nothing. An administrator finds the reason in the audit.',
  stale: 'sent an answer to another tab, or too late. Sign in again.',
  'no-role': 'knows you, but no role is given to you here. Ask an administrator.',
};

/** The ways in with a provider. They leave the dashboard, and come back to `back`. */
export function SignInWith({ back }: { readonly back: string | undefined }) {
  if (providers.value.length === 0) return null;
  return (
    <>
      <Problem />
      {providers.value.map(({ key, label }) => (
        <a key={key} class="button main" href={signInPath(key, back)}>
          Sign in with {label}
        </a>
      ))}
      <p class="or">or</p>
    </>
  );
}

export function signInPath(key: string, back: string | undefined): string {
  return `/web/sign-in/${key}${back === undefined ? '' : `?back=${encodeURIComponent(back)}`}`;
}

function Problem() {
  const sentence = SENTENCES[query.value.get('problem') ?? ''];
  const { label } = providers.value.find(({ key }) => key === query.value.get('with')) ?? {};
  if (sentence === undefined || label === undefined) return null;
  return (
    <p class="wrong" role="alert">
      {label} {sentence}
    </p>
  );
}
