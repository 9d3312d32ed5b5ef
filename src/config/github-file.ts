import { chmod, constants, type FileHandle, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  APP_ID,
  checkGithubHost,
  type GithubAuth,
  type GithubSettings,
  KEY_SENTENCE,
  parsePrivateKey,
  TOKEN,
} from './github.ts';

/** Connections that `sluice github setup` made: one file for each host, readable by its owner only. */

/** Ten times more than a key and some addresses need. */
const MAX_BYTES = 65_536;

export interface GithubFile {
  readonly settings: GithubSettings;
  readonly file: string;
  readonly warnings: readonly string[];
}

export function githubFileOf(dataFolder: string, host: string): string {
  return path.join(dataFolder, 'github', `${host}.json`);
}

/** Reads the files of all hosts, except for some. An unusable file is returned as a problem in words. */
export async function readGithubFiles(
  dataFolder: string,
  except: ReadonlySet<string>,
): Promise<readonly (GithubFile | string)[]> {
  const folder = path.join(dataFolder, 'github');
  const names = await readdir(folder).catch(() => []);
  const files = names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.') && !except.has(path.basename(name, '.json')))
    .sort();
  return Promise.all(files.map((name) => readGithubFile(path.join(folder, name))));
}

export async function readGithubFile(file: string): Promise<GithubFile | string> {
  const read = await readPlainFile(file);
  if (typeof read === 'string') return `${file} ${read}.`;
  const settings = parse(path.basename(file, '.json'), read.text);
  if (typeof settings === 'string') return `${file} ${settings}. "sluice github setup" writes it again.`;
  const isOpen = (read.mode & 0o077) !== 0;
  return { settings, file, warnings: isOpen ? [`${file} can be read by others than its owner: chmod 600 it.`] : [] };
}

/** The text of the file, or the problem as the end of a sentence. */
async function readPlainFile(file: string): Promise<{ readonly text: string; readonly mode: number } | string> {
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe would block until another process writes to it.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = await handle.stat();
    if (!found.isFile()) return 'is no file';
    if (found.size > MAX_BYTES) return 'is larger than 64 KiB';
    return { text: await handle.readFile('utf8'), mode: found.mode };
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  } finally {
    await handle?.close();
  }
}

/** Writes the file atomically. No other user can read it at any time. */
export async function writeGithubFile(dataFolder: string, settings: GithubSettings): Promise<string> {
  const file = githubFileOf(dataFolder, settings.host);
  const { apiUrl, webUrl, auth } = settings;
  const { kind: _, ...credentials } = auth;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  await writeFile(draft, `${JSON.stringify({ ...credentials, apiUrl, webUrl }, null, 2)}\n`, { mode: 0o600 });
  // A draft left over from a crash keeps its old mode.
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}

type Fields = Readonly<Record<string, unknown>>;

/** The connection, or its problem as the end of a sentence. */
function parse(name: string, text: string): GithubSettings | string {
  const host = name.toLowerCase();
  const isHost = name === host && checkGithubHost(host) === undefined;
  if (!isHost) return 'must be named after its host in lower case, such as github.com.json';
  const fields = parseFields(text);
  if (fields === undefined) return 'holds no JSON object';
  const auth = parseAuth(fields);
  if (typeof auth === 'string') return auth;
  for (const key of ['apiUrl', 'webUrl']) {
    const url = fields[key];
    if (url !== undefined && !isUrl(url)) return `has no usable ${key}`;
  }
  return { host, apiUrl: fields['apiUrl'] as string | undefined, webUrl: fields['webUrl'] as string | undefined, auth };
}

function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function parseAuth({ appId, privateKey, token, webhookSecret }: Fields): GithubAuth | string {
  if (webhookSecret !== undefined && (typeof webhookSecret !== 'string' || webhookSecret.length < 8)) {
    return 'has a webhookSecret that is no text of 8 characters or more';
  }
  const secret = webhookSecret === undefined ? {} : { webhookSecret };
  if (token !== undefined) {
    if (appId !== undefined) return 'has both an appId and a token';
    return typeof token === 'string' && TOKEN.test(token)
      ? { kind: 'token', token, ...secret }
      : 'has a token that is none';
  }
  if (appId === undefined) return 'has neither an appId nor a token';
  const id = typeof appId === 'number' ? String(appId) : appId;
  if (typeof id !== 'string' || !APP_ID.test(id)) return 'has an appId that is no number or client id of a GitHub App';
  const key = typeof privateKey === 'string' ? parsePrivateKey(privateKey) : undefined;
  if (key === undefined) return `has no usable privateKey: it ${KEY_SENTENCE}`;
  return { kind: 'app', appId: id, privateKey: key, ...secret };
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^\s/]+/.test(value) && URL.canParse(value);
}
