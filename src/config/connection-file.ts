import { chmod, constants, type FileHandle, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../lib/fault.ts';
import type { ForgeKind } from '../lib/forge-kind.ts';
import { checkForgeHost } from './forge-host.ts';

/** Connections that `sluice forge setup` made: one file for each host, readable by its owner only. */

/** Ten times more than a key and some addresses need. */
const MAX_BYTES = 65_536;

export type Fields = Readonly<Record<string, unknown>>;

/** Connections of one kind. Their files are in a folder of that name in the data folder. */
export interface ConnectionFormat<Settings> {
  readonly kind: ForgeKind;
  /** The connection, or its problem as the end of a sentence. */
  parse(host: string, fields: Fields): Settings | string;
}

interface ConnectionFile<Settings> {
  readonly settings: Settings;
  readonly file: string;
  readonly warnings: readonly string[];
}

export interface LoadedFile<Settings> extends ConnectionFile<Settings> {
  /** Reads the file again. */
  reload(): Promise<Settings>;
}

/** `problems` has a sentence for each file that cannot be used. */
export interface LoadedFiles<Settings> {
  readonly files: readonly LoadedFile<Settings>[];
  readonly problems: readonly string[];
}

/** `problems` has a sentence for each connection that cannot be used. */
export interface FoundConnections<Connection> {
  readonly connections: readonly Connection[];
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

export function connectionFileOf(dataFolder: string, kind: ForgeKind, host: string): string {
  return path.join(dataFolder, kind, `${host}.json`);
}

/** Reads the files of all hosts, except for those that are connected already. */
export async function loadFiles<Settings>(
  format: ConnectionFormat<Settings>,
  dataFolder: string,
  connected: ReadonlySet<string>,
): Promise<LoadedFiles<Settings>> {
  const folder = path.join(dataFolder, format.kind);
  const names = await readdir(folder).catch(() => []);
  const wanted = names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.') && !connected.has(path.basename(name, '.json')))
    .sort();
  const read = await Promise.all(wanted.map((name) => readConnectionFile(format, path.join(folder, name))));
  const usable = read.filter((each) => typeof each !== 'string');
  return {
    files: usable.map((each) => ({ ...each, reload: () => reload(format, each.file) })),
    problems: read.filter((each) => typeof each === 'string'),
  };
}

async function reload<Settings>(format: ConnectionFormat<Settings>, file: string): Promise<Settings> {
  const now = await readConnectionFile(format, file);
  if (typeof now === 'string') throw new Fault('MISCONFIGURED', now);
  return now.settings;
}

async function readConnectionFile<Settings>(
  format: ConnectionFormat<Settings>,
  file: string,
): Promise<ConnectionFile<Settings> | string> {
  const read = await readPlainFile(file);
  if (typeof read === 'string') return `${file} ${read}.`;
  const settings = parse(format, path.basename(file, '.json'), read.text);
  if (typeof settings === 'string') return `${file} ${settings}. "sluice forge setup ${format.kind}" writes it again.`;
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

function parse<Settings>(format: ConnectionFormat<Settings>, name: string, text: string): Settings | string {
  const host = name.toLowerCase();
  const isHost = name === host && checkForgeHost(host) === undefined;
  if (!isHost) return 'must be named after its host in lower case, such as github.com.json';
  const fields = parseFields(text);
  return fields === undefined ? 'holds no JSON object' : format.parse(host, fields);
}

function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file atomically. No other user can read it at any time. */
export async function writeConnectionFile(file: string, fields: Fields): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  await writeFile(draft, `${JSON.stringify(fields, null, 2)}\n`, { mode: 0o600 });
  // A draft left over from a crash keeps its old mode.
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}

/** The secret of webhooks, or the problem with it as the end of a sentence. */
export function parseWebhookSecret({ webhookSecret }: Fields): { readonly webhookSecret?: string } | string {
  if (webhookSecret === undefined) return {};
  return typeof webhookSecret === 'string' && webhookSecret.length >= 8
    ? { webhookSecret }
    : 'has a webhookSecret that is no text of 8 characters or more';
}

export function isUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^\s/]+/.test(value) && URL.canParse(value);
}

export function warnOfFile(file: LoadedFile<unknown>, host: string, webhookSecret: string | undefined): string[] {
  if (webhookSecret !== undefined) return [...file.warnings];
  return [
    ...file.warnings,
    `${file.file} has no webhookSecret: no event from ${host} is believed, only polling finds them.`,
  ];
}
