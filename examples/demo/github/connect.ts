import { CliError, EXIT } from '../../../src/cli/core/exit.ts';
import { paint, write } from '../../../src/cli/core/terminal.ts';
import { acceptManifest } from '../../../test/fake/github/apps.ts';
import type { FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { App, Repository } from '../../../test/fake/github/model.ts';
import { type CommandPlace, show, start, until } from '../commands.ts';

export const HOST = 'github.demo';
const REPO = `${HOST}/acme/shop`;
const SECRET = 'a secret that only GitHub and the server know';

interface Place extends CommandPlace {
  readonly github: FakeGithub;
  readonly repository: Repository;
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

function unescapeHtml(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
