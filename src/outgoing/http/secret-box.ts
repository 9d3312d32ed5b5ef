import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../../lib/fault.ts';
import type { SecretBox } from '../outgoing.ts';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

// SPEC X41
export function createSecretBox(key: Uint8Array): SecretBox {
  // Names the key without telling anything of it.
  const keyId = createHash('sha256').update('sluice key id').update(key).digest('hex').slice(0, 12);
  // Importing it takes longer than opening with it.
  const imported = createSecretKey(key);
  const aadOf = (purpose: string) => Buffer.from(`${keyId} ${purpose}`);
  return {
    seal: (text, purpose) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, imported, iv).setAAD(aadOf(purpose));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `v1.${keyId}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')}`;
    },
    open: (given, purpose) => {
      const [version, by, body = ''] = given.split('.');
      const bytes = Buffer.from(body, 'base64url');
      if (version !== 'v1' || by !== keyId || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, imported, bytes.subarray(0, IV_BYTES)).setAAD(aadOf(purpose));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        const opened = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
        return Buffer.concat(opened).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

/** 32 bytes in base64 or hexadecimal. */
export function parseSecretKey(given: string): Uint8Array | undefined {
  const bytes = Buffer.from(given, /^[0-9a-f]{64}$/i.test(given) ? 'hex' : 'base64');
  return bytes.length === KEY_BYTES ? bytes : undefined;
}

/** The key of SLUICE_SECRET_KEY, or else that of a file in the data folder, which the first start writes. */
export async function loadSecretKey(dataFolder: string, given: string | undefined): Promise<Uint8Array> {
  if (given !== undefined) return checkedKey(given, 'SLUICE_SECRET_KEY');
  const file = path.join(dataFolder, 'secret-key');
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Fault('MISCONFIGURED', `The file ${file} cannot be read (${error.code}).`);
  });
  // A damaged file is never replaced: everything that its key encrypted would be lost.
  if (stored !== undefined) return checkedKey(stored.trim(), file);
  const key = randomBytes(KEY_BYTES);
  await writeFile(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

function checkedKey(given: string, origin: string): Uint8Array {
  const key = parseSecretKey(given);
  if (key === undefined) throw new Fault('MISCONFIGURED', `${origin} must be 32 bytes in base64 or hexadecimal.`);
  return key;
}
