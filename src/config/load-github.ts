import { Fault } from '../lib/fault.ts';
import type { Config } from './config.ts';
import { type FoundConnections, type LoadedFile, loadFiles, warnOfFile } from './connection-file.ts';
import type { GithubAuth, GithubEnvironment, GithubSettings } from './github.ts';
import { KEY_SENTENCE, parsePrivateKey } from './github.ts';
import { GITHUB_FILES } from './github-file.ts';
import { readNamedFile } from './read-named-file.ts';

/** A connection. `reload` reads its credentials again when GitHub refuses them; undefined if they cannot change. */
export interface LoadedGithub extends GithubSettings {
  readonly reload: (() => Promise<GithubAuth>) | undefined;
}

export async function loadGithubVariables({ github }: Pick<Config, 'github'>): Promise<readonly LoadedGithub[]> {
  return github === undefined ? [] : [await loadEnvironment(github)];
}

export async function loadGithubFiles(
  dataFolder: string,
  connected: ReadonlySet<string>,
): Promise<FoundConnections<LoadedGithub>> {
  const { files, problems } = await loadFiles(GITHUB_FILES, dataFolder, connected);
  const warnings = files.flatMap((file) => warnOfFile(file, file.settings.host, file.settings.auth.webhookSecret));
  return { connections: files.map(loadFile), warnings, problems };
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
  const key = parsePrivateKey(await readNamedFile('SLUICE_GITHUB_PRIVATE_KEY_FILE', file));
  if (key === undefined) throw new Fault('MISCONFIGURED', `SLUICE_GITHUB_PRIVATE_KEY_FILE ${file} ${KEY_SENTENCE}.`);
  return key;
}

function loadFile({ settings, reload }: LoadedFile<GithubSettings>): LoadedGithub {
  return { ...settings, reload: async () => (await reload()).auth };
}
