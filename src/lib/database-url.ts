/** An address of PostgreSQL. It may name several hosts, which `URL` does not read. */
// SPEC D33
export function isDatabaseUrl(given: string): boolean {
  const oneHost = given.replace(/^(\w+:\/\/(?:[^@/?]*@)?[^,/?]*),[^/?]*/, '$1');
  return /^postgres(?:ql)?:\/\//.test(given) && URL.canParse(oneHost);
}

/** The address with `mark` in the place of its password, and the password itself. */
export function splitPassword(url: string, mark: string): { readonly address: string; readonly password?: string } {
  let password: string | undefined;
  const take = (by: string) => (_: string, before: string, given: string) => {
    password = decodeURIComponent(given);
    return `${before}${by}`;
  };
  const address = url
    .replace(/^(\w+:\/\/[^:@/]*):([^@/]*)(?=@)/, take(mark))
    .replace(/([?&])password=([^&]*)&?/, take(''));
  return password === undefined ? { address } : { address, password };
}
