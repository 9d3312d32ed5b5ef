/** The key of the OpenID Connect provider. The keys of others are hosts, which have a dot. */
export const SSO = 'sso';

/** Port to those who prove who a person is. Nothing that they answer is kept but the `Identity`. */
export interface IdentityProvider {
  /** Its name in addresses and in the audit: `sso`, or the host of a forge. */
  readonly key: string;
  /** Its name on the sign-in page. */
  readonly label: string;
  /** The address to send the browser to. */
  begin(trip: Trip): Promise<{ readonly url: string } | SignInProblem>;
  /** Turns the address that the browser came back to into a proven identity. */
  finish(trip: Trip, cameBackTo: URL): Promise<Identity | SignInProblem>;
  /** The address that signs out at the provider. Undefined where there is none. */
  findSignOut(returnTo: string): Promise<string | undefined>;
}

/** One way to the provider and back. The browser alone has the secret that all of it follows from. */
export interface Trip {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Identity {
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
  /** The proven logins at forges, by host. */
  readonly logins: Readonly<Record<string, string>>;
}

/** `unavailable`: no answer. `denied`: the person or the provider said no. `refused`: the answer proves nothing. */
export interface SignInProblem {
  readonly problem: 'unavailable' | 'denied' | 'refused';
  /** For the operator. It has no secrets. */
  readonly detail: string;
}
