/** A check that was cut off, or met an outage, has no result of its own. A flake failed on a green tree. */
type Outcome = 'passed' | 'failed' | 'flaked' | 'cutOff' | 'brokeDown';

/** How the checks of each commit truly ended. One that was run again may have ended in several ways. */
export class CheckRecord {
  readonly #names = new Map<string, Set<string>>();

  note(outcome: Outcome, { sha, name }: { readonly sha: string; readonly name: string }): void {
    const key = `${outcome} ${sha}`;
    this.#names.set(key, (this.#names.get(key) ?? new Set()).add(name));
  }

  /** The names of the checks that ended like this on the commit. */
  names(outcome: Outcome, sha: string): readonly string[] {
    return [...(this.#names.get(`${outcome} ${sha}`) ?? [])];
  }
}
