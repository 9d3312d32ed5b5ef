const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?$/;

/** The problem with the name of a forge's host as the end of a sentence. */
export function checkForgeHost(given: string): string | undefined {
  const host = given.toLowerCase();
  if (host === 'local') return 'must not be "local", which stands for plain git';
  return HOST.test(host) && host.length <= 253
    ? undefined
    : `must be the name of a host, such as github.com, not "${given}"`;
}
