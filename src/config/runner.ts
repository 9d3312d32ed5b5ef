import { availableParallelism } from 'node:os';
import { isAbsolute } from 'node:path';
import { type Read, VARIABLES } from './variables.ts';

export function parseRunner(read: Read) {
  return {
    jobs: Number(read('SLUICE_RUNNER_JOBS') ?? availableParallelism()),
    /** Undefined: the first protection that works. */
    wanted: read('SLUICE_RUNNER_PROTECTION') as (typeof VARIABLES.SLUICE_RUNNER_PROTECTION.values)[number] | undefined,
    /** Whether checks run even if nothing protects the server's files from them. */
    trustsAll: read('SLUICE_RUNNER_TRUST') === 'all',
    uids: parseRange(read('SLUICE_RUNNER_UIDS') ?? VARIABLES.SLUICE_RUNNER_UIDS.default),
    processes: Number(read('SLUICE_RUNNER_PROCESSES') ?? VARIABLES.SLUICE_RUNNER_PROCESSES.default),
    limits: { memory: read('SLUICE_RUNNER_MEMORY'), cpus: parseCpus(read('SLUICE_RUNNER_CPUS')) },
    tools: parseFolders(read('SLUICE_RUNNER_TOOLS')),
    caches: parseFolders(read('SLUICE_RUNNER_CACHES')),
    cacheBytes: Number(read('SLUICE_CACHE_BYTES') ?? VARIABLES.SLUICE_CACHE_BYTES.default),
  };
}

/** Lower uids belong to people and services. The uid of `nobody` and the invalid uid must not be in the range. */
const LEAST_UID = 1_000;
const RESERVED_UIDS = [65_534, 65_535];
const GREATEST_UID = 2 ** 32 - 3;
const MOST_UIDS = 100_000;

export const RUNNER_RULES = {
  SLUICE_RUNNER_UIDS: (given: string): string | undefined => {
    const { first, last } = parseRange(given);
    const isOne = LEAST_UID <= first && first <= last && last <= GREATEST_UID && last - first < MOST_UIDS;
    if (!isOne) return `must be a range of user numbers such as 60600-61099, from ${LEAST_UID} on, not "${given}"`;
    const reserved = RESERVED_UIDS.find((uid) => first <= uid && uid <= last);
    return reserved === undefined ? undefined : `must not contain ${reserved}, which is not for one program alone`;
  },
  SLUICE_RUNNER_MEMORY: (given: string): string | undefined =>
    /^[1-9]\d{0,5}[MGT]$/.test(given) ? undefined : `must be an amount such as 512M or 4G, not "${given}"`,
  SLUICE_RUNNER_CPUS: (given: string): string | undefined =>
    /^\d{1,4}(?:\.\d{1,2})?$/.test(given) && Number(given) > 0
      ? undefined
      : `must be a number such as 2 or 0.5, not "${given}"`,
  SLUICE_RUNNER_TOOLS: checkFolders,
  SLUICE_RUNNER_CACHES: checkFolders,
};

/** Variables of earlier versions, with their replacement. */
export const RUNNER_REMOVED: Readonly<Record<string, string>> = {
  SLUICE_RUNNER_USER:
    'is not read any more: one user for all checks does not keep them from each other. Remove it; a server that runs as root gives each check a user of SLUICE_RUNNER_UIDS.',
};

function parseRange(text: string): { readonly first: number; readonly last: number } {
  const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  return { first: Number(first), last: Number(last) };
}

function parseCpus(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function parseFolders(text: string | undefined): readonly string[] {
  return (text ?? '').split(':').filter((folder) => folder !== '');
}

function checkFolders(given: string): string | undefined {
  const odd = parseFolders(given).find((folder) => !isAbsolute(folder));
  return odd === undefined ? undefined : `must be absolute paths with colons between them; "${odd}" is none`;
}
