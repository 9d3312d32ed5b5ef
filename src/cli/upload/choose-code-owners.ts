import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../core/exit.ts';
import { findRoot, type ReportFile } from './find-reports.ts';

/** The places in which forges look; the first existing one counts. */
const PLACES = [
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  '.bitbucket/CODEOWNERS',
] as const;

/** The server accepts no more. */
const MAX_BYTES = 3_000_000;

/** The named CODEOWNERS, else that of the checkout. False: none is sent. */
export async function chooseCodeOwners(
  named: string | boolean | undefined,
  { folder, say }: { readonly folder: string; readonly say: (text: string) => void },
): Promise<ReportFile | undefined> {
  if (named === false) return undefined;
  const found = typeof named === 'string' ? await getNamed(named, folder) : await findInCheckout(folder);
  if (found === undefined || found.sizeBytes <= MAX_BYTES) return found;
  say(`sluice: ${found.name} is larger than 3 MB and is not sent.`);
  return undefined;
}

async function getNamed(named: string, folder: string): Promise<ReportFile> {
  const found = await describe(folder, named);
  if (found === undefined) throw usageError(`There is no file ${named} that can be read.`);
  return found;
}

async function findInCheckout(folder: string): Promise<ReportFile | undefined> {
  const root = await findRoot(folder);
  for (const place of PLACES) {
    const found = await describe(root, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name includes the folder, which decides the grammar. */
async function describe(folder: string, name: string): Promise<ReportFile | undefined> {
  const file = path.resolve(folder, name);
  const found = await stat(file).catch(() => undefined);
  const isReadable = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!found?.isFile() || !isReadable) return undefined;
  return { name: name.split(path.sep).join('/'), path: file, sizeBytes: found.size };
}
