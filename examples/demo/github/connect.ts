import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from '../../../src/cli/core/exit.ts';
import { paint, write } from '../../../src/cli/core/terminal.ts';
import { acceptManifest } from '../../../test/fake/github/apps.ts';
import type { FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { App, Repository } from '../../../test/fake/github/model.ts';
import type { DemoServer } from '../demo-server.ts';

export const HOST = 'github.demo';
const REPO = `${HOST}/acme/shop`;
const SLUICE = fileURLToPath(new URL('../../../bin/sluice.mjs', import.meta.url));
const SECRET = 'a secret that only GitHub and the server know';
const PATIENCE_MS = 60_000;
const INTERVAL_MS = 100;

interface Place {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly server: DemoServer;
  readonly dataFolder: string;
  readonly signal: AbortSignal;
}

/** Follows docs/github.md step by step, and plays the browser. */
export async function connect(place: Place): Promise<void> {
  const { github, repository, server } = place;
  const app = await setUp(place);
  await untilKnown(place);
  app.hook.url = `${server.url}/webhooks/github`;
  github.install(app, 'acme');
  write(paint('gray', 'Somebody installs the App on acme, and lets nobody else move main.'));
  const bypass = [{ actorId: app.id, type: 'Integration', mode: 'exempt' }] as const;
  github.addRuleset(repository, { name: 'The gate', rules: [{ type: 'update' }], bypass });
  await show(place, 'repo', 'add', REPO);
  await show(
    place,
    'queue',
    'create',
    REPO,
    'main',
    '--required-statuses',
    'unit@github-actions',
    '--concurrency',
    '4',
  );
  await show(place, 'github', 'check', REPO, 'main');
}

/** Opens the page that the command shows, and presses the button on GitHub. */
async function setUp(place: Place): Promise<App> {
  const { github, signal } = place;
  const urls = ['--api-url', github.url, '--web-url', github.url];
  const args = ['github', 'setup', '--host', HOST, '--org', 'acme', '--url', 'https://sluice.acme.dev', ...urls];
  const command = start(place, args);
  try {
    const url = await until(signal, () => /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(command.output())?.[0]);
    const { manifest, state } = readPage(await (await fetch(url, { signal })).text());
    const { default_permissions: permissions, default_events: events, name: slug } = manifest;
    const made = acceptManifest(github.world, { slug, permissions, events, hook: { url: '', secret: SECRET } });
    const back = new URL(manifest.redirect_url);
    back.searchParams.set('code', made.code);
    back.searchParams.set('state', state);
    await (await fetch(back, { signal })).text();
    await command.ended(EXIT.ok);
    return made.app;
  } finally {
    // Otherwise the command would wait for a browser for ever, and this process for the command.
    await command.stop();
  }
}

/** The form that a browser would send to GitHub. */
function readPage(html: string) {
  const find = (pattern: RegExp): string => unescapeHtml(pattern.exec(html)?.[1] ?? '');
  const action = find(/action="([^"]+)"/);
  const manifest = find(/value="([^"]+)"/);
  if (!URL.canParse(action) || manifest === '') {
    throw new CliError(EXIT.unavailable, 'The page of the setup is not what the demo expects.');
  }
  return { manifest: JSON.parse(manifest), state: new URL(action).searchParams.get('state') ?? '' };
}

/**
 * The server picks up a new connection by itself within seconds. A person takes longer to install an App; the demo must
 * wait.
 */
async function untilKnown(place: Place): Promise<void> {
  await until(place.signal, async () => {
    const { out } = await start(place, ['repo', 'add', REPO], { isQuiet: true }).ended();
    return out.includes('is not connected to this server') ? undefined : true;
  });
}

async function show(place: Place, ...args: readonly string[]): Promise<void> {
  await start(place, args).ended(EXIT.ok);
}

interface Command {
  output(): string;
  /** Any exit code other than `expected` ends the demo. */
  ended(expected?: number): Promise<{ readonly code: number | null; readonly out: string }>;
  /** Returns when the command is gone; an ended one stays as it is. */
  stop(): Promise<void>;
}

function start(place: Place, args: readonly string[], { isQuiet = false } = {}): Command {
  if (!isQuiet) write(`\n${paint('bold', `$ sluice ${args.join(' ')}`)}`);
  const { PATH } = process.env;
  const env = { PATH, SLUICE_DATA: place.dataFolder, SLUICE_URL: place.server.url };
  const child = spawn(process.execPath, [SLUICE, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (!isQuiet) process.stdout.write(text);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = (): void => void child.kill();
  place.signal.addEventListener('abort', kill, { once: true });
  return {
    output: () => out,
    ended: async (expected) => {
      const code = await ended;
      place.signal.removeEventListener('abort', kill);
      place.signal.throwIfAborted();
      if (expected === undefined || code === expected) return { code, out };
      throw new CliError(EXIT.unavailable, `sluice ${args.join(' ')} ended with ${code}:\n${out}`);
    },
    stop: async () => {
      kill();
      await ended;
      place.signal.removeEventListener('abort', kill);
    },
  };
}

/** Polls until `look` finds a value, or patience ends. */
export async function until<Found>(
  signal: AbortSignal,
  look: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new CliError(EXIT.unavailable, 'The demo waits for something in vain.');
    await setTimeout(INTERVAL_MS, undefined, { signal });
  }
}

function unescapeHtml(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
