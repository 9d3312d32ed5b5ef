/** The names of those who acted, as events keep them. */

/** Ends the name of a person who signed in: the provider and its subject, which the person cannot choose. */
const PROVEN = / \([a-z0-9.-]+:[^()\s]{1,400}\)$/;
const MAX_LENGTH = 60;

// SPEC A61
export function personName(of: { readonly provider: string; readonly subject: string; readonly name: string }): string {
  const proof = `(${of.provider}:${encodeURIComponent(of.subject).replace(/[()]/g, '_')})`;
  return `${plainName(of.name) || 'Somebody'} ${proof}`;
}

/** A name as a line of text that cannot look like a proof, and cannot turn the direction of writing. */
export function plainName(given: string): string {
  const visible = given
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}()]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...visible].slice(0, MAX_LENGTH).join('');
}

/** Whether a person acted: at the forge (`@login`), or signed in. */
export function isPersonName(name: string): boolean {
  return name.startsWith('@') || PROVEN.test(name);
}
