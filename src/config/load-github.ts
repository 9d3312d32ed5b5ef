import { readFile } from 'node:fs/promises';
import { Fault } from '../lib/fault.ts';
import type { Config } from './config.ts';
import type { GithubAuth, GithubEnvironment, GithubSettings } from './github.ts';
import { KEY_SENTENCE, parsePrivateKey } from './github.ts';
import { type GithubFile, readGithubFile, readGithubFiles } from './github-file.ts';

/** A connection. `reload` reads its credentials again when GitHub refuses them; undefined if they cannot change. */
export interface LoadedGithub extends GithubSettings {
  readonly reload: (() => Promise<GithubAuth>) | undefined;
}

/** Loads the connection of the environment and those of files. The environment wins for its host. */
// SPEC G67
export async function loadGithub({ github, dataFolder }: Pick<Config, 'github' | 'dataFolder'>): Promise<{
  readonly connections: readonly LoadedGithub[];
  readonly warnings: readonly string[];
}> {
  const own = github === undefined ? [] : [await loadEnvironment(github)];
  const { connections, warnings, problems } = await loadNewGithub({ dataFolder }, new Set(own.map(({ host }) => host)));
  if (problems.length > 0) throw new Fault('MISCONFIGURED', problems.join('\n'));
  return { connections: [...own, ...connections], warnings };
}

/** Loads the connections of files, except for hosts that are connected already. */
export async function loadNewGithub(
  { dataFolder }: Pick<Config, 'dataFolder'>,
  connected: ReadonlySet<string>,
): Promise<{
  readonly connections: readonly LoadedGithub[];
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}> {
  const files = await readGithubFiles(dataFolder, connected);
  const usable = files.filter((file): file is GithubFile => typeof file !== 'string');
  return {
    connections: usable.map(loadFile),
    warnings: usable.flatMap(warningsOf),
    problems: files.filter((file) => typeof file === 'string'),
  };
}

async function loadEnvironment({ auth, webhookSecret, ...rest }: GithubEnvironment): Promise<LoadedGithub> {
  if (auth.kind !== 'key_file') return { ...rest, auth, reload: undefined };
  const secret = webhookSecret === undefined ? {} : { webhookSecret };
  const read = async (): Promise<GithubAuth> => ({
    kind: 'app',
    appId: auth.appId,
    privateKey: await readKey(auth.file),
    ...secret,
  });
  return { ...rest, auth: await read(), reload: read };
}

async function readKey(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Fault('MISCONFIGURED', `SLUICE_GITHUB_PRIVATE_KEY_FILE ${file} cannot be read (${error.code}).`);
  });
  const key = parsePrivateKey(text);
  if (key === undefined) throw new Fault('MISCONFIGURED', `SLUICE_GITHUB_PRIVATE_KEY_FILE ${file} ${KEY_SENTENCE}.`);
  return key;
}

function loadFile({ settings, file }: GithubFile): LoadedGithub {
  const reload = async (): Promise<GithubAuth> => {
    const now = await readGithubFile(file);
    if (typeof now === 'string') throw new Fault('MISCONFIGURED', now);
    return now.settings.auth;
  };
  return { ...settings, reload };
}

function warningsOf({ file, settings, warnings }: GithubFile): string[] {
  if (settings.auth.webhookSecret !== undefined) return [...warnings];
  return [
    ...warnings,
    `${file} has no webhookSecret: no event from ${settings.host} is believed, only polling finds them.`,
  ];
}
