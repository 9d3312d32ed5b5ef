import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { KeptToken, Store } from '../../storage/store.ts';
import type { AdminAccess, App } from '../core/app.ts';
import { isRefusal } from '../core/refusal.ts';
import { hashTokenSecret, isGood, makeTokenSecret } from './authenticate.ts';
import { ensureOrganization, FIRST_SCOPES, newToken } from './organizations.ts';
import { createSignInLink } from './sessions.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly admin: AdminAccess;
}

interface NewToken {
  /** Undefined if no token had to be made. */
  readonly newSecret: string | undefined;
  readonly tokenFile: string | undefined;
}

/** Creates the organization and its first token where they are missing, and writes the token's file. */
export async function ensureAdmin(parts: Parts): Promise<NewToken> {
  const { newSecret } = await ensureOrganization(parts, parts.admin);
  if (newSecret === undefined) return { newSecret, tokenFile: undefined };
  const tokenFile = await chooseFile(parts);
  await keepSecret(parts, tokenFile, newSecret);
  return { newSecret, tokenFile };
}

/** The token whose secret is in the file, if it can administer the server now. */
export async function findFileToken({ store, clock, admin }: Omit<Parts, 'log'>): Promise<KeptToken | undefined> {
  const secret = await readSecret(admin);
  const found = secret === '' ? undefined : await store.accounts.findToken(hashTokenSecret(secret));
  return found?.token.scopes.includes('instance') && isGood(found.token, clock.now()) ? found : undefined;
}

/** A link that signs in as the administrator of the file. Undefined if its token does not count. */
export async function createAdminLink(app: App, baseUrl: string): Promise<string | undefined> {
  const kept = await findFileToken(app);
  const link = kept && (await createSignInLink(app, { tokenId: kept.token.id }, baseUrl));
  return link === undefined || isRefusal(link) ? undefined : link.url;
}

/** A file whose token does not count gets another one. Undefined if none was needed, or if it cannot be written. */
// SPEC A31
export async function restoreAccess(parts: Parts): Promise<string | undefined> {
  const { store, clock, admin } = parts;
  if (admin.adminToken !== undefined) await ensureOrganization(parts, admin);
  if ((await findFileToken(parts)) !== undefined) return admin.tokenFile;
  if (admin.adminToken !== undefined && (await readSecret(admin)) === '') return undefined;
  const organization = await store.accounts.findOrganization(admin.slug);
  if (organization === undefined) return (await ensureAdmin(parts)).tokenFile;
  const secret = makeTokenSecret();
  const given = { organizationId: organization.id, name: 'admin', scopes: FIRST_SCOPES, origin: 'api' } as const;
  const token = newToken(secret, { ...given, createdAt: clock.now() });
  await store.accounts.insertToken(token);
  return (await keepSecret(parts, admin.tokenFile, secret)) ? admin.tokenFile : undefined;
}

async function readSecret({ tokenFile }: AdminAccess): Promise<string> {
  return (await readFile(tokenFile, 'utf8').catch(() => '')).trim();
}

/** False if the file cannot be written. */
// SPEC A18
async function keepSecret({ log }: Parts, file: string, secret: string): Promise<boolean> {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    // On a full disk the former one stays: it may be that of a store which comes back.
    await rm(`${file}.new`, { force: true });
    await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return true;
  } catch (error) {
    // A start prints the token anyway, and SLUICE_ADMIN_TOKEN can replace it.
    log.warn({ err: error, file }, 'admin token file not written');
    return false;
  }
}

/** The file may hold the only copy of another organization's token, so it is not overwritten. */
async function chooseFile({ store, admin }: Parts): Promise<string> {
  const present = await readSecret(admin);
  const isInUse = present !== '' && (await store.accounts.findToken(hashTokenSecret(present))) !== undefined;
  return isInUse ? `${admin.tokenFile}-${admin.slug}` : admin.tokenFile;
}
