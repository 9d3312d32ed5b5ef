import { decodeBody } from '../../bundle/decode-body.ts';
import { Unreadable } from '../../bundle/unreadable.ts';
import { type CodeOwners, type CodeOwnersGrammar, parseCodeOwners } from '../../flaky/identity/code-owners.ts';
import type { Upload } from '../../storage/uploads.ts';
import { ownText, type ReadLimits } from './read-limits.ts';
import type { UploadIssues } from './upload-issues.ts';

export type FileOwners = Pick<CodeOwners, 'ownersOf' | 'issues'>;

interface OwnersSources {
  readonly openFile: (fileNo: number) => AsyncIterable<Uint8Array>;
  readonly issues: UploadIssues;
  readonly limits: ReadLimits;
}

/** GitHub reads no more of a CODEOWNERS. */
const MAX_BYTES = 3_000_000;
const NO_OWNERS: readonly string[] = [];
const NOBODY: FileOwners = { ownersOf: () => NO_OWNERS, issues: () => [] };

/** Uses the CODEOWNERS sent with the reports, at any position among them. An unreadable one owns nothing. */
// SPEC U39
export async function readOwners({ files }: Upload, { openFile, issues, limits }: OwnersSources): Promise<FileOwners> {
  const fileNo = files.findIndex(({ role }) => role === 'codeowners');
  const file = files[fileNo];
  if (file === undefined) return NOBODY;
  const parts: Uint8Array[] = [];
  try {
    const unpacked = decodeBody(openFile(fileNo), file.encoding, { ...limits.bundle, maxBytes: MAX_BYTES });
    for await (const part of unpacked) parts.push(Uint8Array.from(part));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const hint = 'Send it as it is, at most 3 MB of it.';
    issues.add({ level: 'warning', file: file.name, line: null, message: error.detail, hint });
    return NOBODY;
  }
  const owners = parseOwners(new TextDecoder().decode(Buffer.concat(parts)), file.name);
  const shared = createOwnerLists();
  return { ownersOf: (path) => (path === '' ? NO_OWNERS : shared(owners.ownersOf(path))), issues: owners.issues };
}

const MAX_OWNERS = 50;
const MAX_OWNER_LENGTH = 200;
/** One repository has few lists; beyond the limit each test gets a list of its own. */
const MAX_INTERNED = 10_000;

/** Tests of one team share one list in memory: runs are many, teams are few. */
export function createOwnerLists(): (owners: readonly string[]) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (owners) => {
    if (owners.length === 0) return NO_OWNERS;
    const key = owners.join('\n');
    const found = known.get(key);
    if (found !== undefined) return found;
    const list = owners.slice(0, MAX_OWNERS).map((owner) => ownText(owner.slice(0, MAX_OWNER_LENGTH)));
    if (known.size < MAX_INTERNED && key.length < MAX_OWNERS * MAX_OWNER_LENGTH) known.set(key, list);
    return list;
  };
}

/** The folder decides the grammar if it is .github or .gitlab. */
export function parseOwners(text: string, path: string): CodeOwners {
  const folder = /(?:^|[\\/])\.(github|gitlab)[\\/][^\\/]*$/.exec(path)?.[1];
  return parseCodeOwners(text, { grammar: folder as CodeOwnersGrammar | undefined });
}
