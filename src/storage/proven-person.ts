/** A person as a provider proved them at the sign-in. */
export interface ProvenPerson {
  /** The name of the provider in addresses and in the audit. */
  readonly provider: string;
  /** The provider never gives it to somebody else. */
  readonly subject: string;
  /** For people to read: the person chose it. */
  readonly name: string;
  /** Those that the table of roles mentions. */
  readonly groups: readonly string[];
  /** The proven logins at forges, by host. */
  readonly logins: Readonly<Record<string, string>>;
}
