import type { Identity, SignInProblem } from '../identity.ts';

interface Claims {
  readonly groupsClaim: string;
  readonly loginClaim: { readonly host: string; readonly claim: string } | undefined;
}

const MOST_GROUPS = 5_000;
const LONGEST = 255;

// SPEC A48
export function readIdentity(
  claims: Readonly<Record<string, unknown>>,
  { groupsClaim, loginClaim }: Claims,
): Identity | SignInProblem {
  const subject = textOf(claims['sub']);
  if (subject === undefined) return { problem: 'refused', detail: 'The ID token has no usable sub.' };
  const login = loginClaim && textOf(claims[loginClaim.claim]);
  return {
    subject,
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? subject,
    groups: groupsOf(claims[groupsClaim]),
    logins: loginClaim === undefined || login === undefined ? {} : { [loginClaim.host]: login },
  };
}

function groupsOf(given: unknown): readonly string[] {
  const all = Array.isArray(given) ? given.slice(0, MOST_GROUPS) : [given];
  return all.flatMap((group) => textOf(group) ?? []);
}

function textOf(given: unknown): string | undefined {
  return typeof given === 'string' && given !== '' && given.length <= LONGEST ? given : undefined;
}
