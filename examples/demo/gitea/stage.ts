import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CliError, EXIT } from '../../../src/cli/core/exit.ts';
import { paint, write } from '../../../src/cli/core/terminal.ts';
import { HOOK_EVENTS } from '../../../src/forge/gitea/api/needed-events.ts';
import { SLUICE } from '../../../src/lib/sluice-command.ts';
import { runGit } from '../../../test/contract/plain-repository.ts';
import { GiteaPeople } from '../../../test/gitea/any-gitea.ts';
import { RealGitea } from '../../../test/gitea/real-gitea.ts';
import { type CommandPlace, show, start, until } from '../commands.ts';
import { readable } from '../readable.ts';
import { formatSurprises, makeLink, type Scene, type Stage } from '../scene.ts';
import { SHOP, STORY } from '../story.ts';
import { startCi } from './ci.ts';

const REPOSITORY = 'acme/shop';
const PATH = `/repos/${REPOSITORY}`;

/** The pull requests of the plain demo that fit together, and one that does not. */
const CAST = [
  { author: 'radia', of: 3, ending: 'Landed' },
  { author: 'ken', of: 6, ending: 'Landed' },
  { author: 'donald', of: 7, ending: 'Failed and removed' },
] as const;

/** A real Gitea, built from source once, connected with the commands of docs/gitea.md. */
export const giteaStage: Stage = {
  prepare: async () =>
    write(paint('bold', 'A merge queue on Gitea: three pull requests, and what people read on them.')),
  play: async (scene) => {
    const binary = process.env['SLUICE_REAL_GITEA'];
    if (binary === undefined) throw new CliError(EXIT.refused, 'This demo needs a Gitea: npm run demo -- --gitea');
    const gitea = await RealGitea.start({ binary });
    try {
      write(`A Gitea runs at ${gitea.url}, with the repository ${REPOSITORY}.`);
      return await playOn(new GiteaPeople(gitea), scene);
    } finally {
      await gitea.close();
    }
  },
};

async function playOn(people: GiteaPeople, scene: Scene): Promise<readonly string[]> {
  await makeRepository(people);
  await connect(people, scene);
  const ci = startCi(people, scene.folder.path);
  try {
    const surprises = await play(people, scene.signal);
    await describeEnd(people, surprises);
    if (scene.isKept) await keep(people, scene);
    return surprises;
  } finally {
    await ci.stop();
  }
}

async function makeRepository(people: GiteaPeople): Promise<void> {
  for (const login of ['sluice', 'ci', ...CAST.map(({ author }) => author)]) await people.tokenOf(login);
  await people.get('root', 'POST', '/orgs', { username: 'acme' });
  await people.get('root', 'POST', '/orgs/acme/repos', { name: 'shop', default_branch: 'main' });
  await people.commit('root', REPOSITORY, 'refs/heads/main', undefined, { files: SHOP, message: 'A shop' });
  const writers = ['ci', ...CAST.map(({ author }) => author)].map((login) => [login, 'write'] as const);
  for (const [login, permission] of [['sluice', 'admin'] as const, ...writers]) {
    await people.get('root', 'PUT', `${PATH}/collaborators/${login}`, { permission });
  }
  // The protection keeps everybody else from moving main.
  const rule = { rule_name: 'main', enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: [] };
  await people.get('root', 'POST', `${PATH}/branch_protections`, { ...rule, block_admin_merge_override: true });
}

/** Follows docs/gitea.md. */
async function connect(people: GiteaPeople, { server, folder, signal }: Scene): Promise<void> {
  const place: CommandPlace = { server, dataFolder: folder.data, signal };
  const { url } = people.gitea;
  const name = `${new URL(url).host}/${REPOSITORY}`;
  const file = path.join(folder.path, 'token.txt');
  const token = await people.createToken('sluice', ['write:repository', 'write:issue', 'read:user']);
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  const setup = ['forge', 'setup', 'gitea', url, '--gitea-token-file', file, '--repo', REPOSITORY, '--yes'];
  await show(place, ...setup, '--url', 'https://sluice.acme.dev');
  // The address of the example leads nowhere from this machine.
  const [hook] = await people.get('root', 'GET', `${PATH}/hooks`);
  const config = { url: `${server.url}/webhooks/gitea/${new URL(url).host}`, content_type: 'json' };
  await people.get('root', 'PATCH', `${PATH}/hooks/${hook.id}`, { active: true, events: HOOK_EVENTS, config });
  await until(signal, async () => {
    const { out } = await start(place, ['repo', 'add', name], { isQuiet: true }).ended();
    return out.includes('is not connected to this server') ? undefined : true;
  });
  await show(place, 'repo', 'add', name);
  await show(place, 'queue', 'create', name, 'main', '--required-statuses', 'unit@ci', '--concurrency', '4');
  await show(place, 'forge', 'check', name, 'main');
}

interface Played {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly ending: string;
}

async function play(people: GiteaPeople, signal: AbortSignal): Promise<readonly string[]> {
  write(`\n${paint('bold', 'Now three pull requests. Indented is what people read on them, whenever it changes.')}\n`);
  const prs: Played[] = [];
  for (const part of CAST) prs.push(await open(people, part));
  const shown = new Map<number, string>();
  for (const pr of prs) {
    write(`\n${paint('cyan', `${pr.author} comments on #${pr.number}: /sluice merge`)}`);
    await people.get(pr.author, 'POST', `${PATH}/issues/${pr.number}/comments`, { body: '/sluice merge' });
    // Keeps the order on a machine of any speed.
    await until(signal, async () => ((await showNews(people, pr, shown)) === '' ? undefined : true));
  }
  await until(signal, async () => {
    const read = await Promise.all(prs.map((pr) => showNews(people, pr, shown)));
    return read.every((text) => /Landed|removed/.test(text)) || undefined;
  });
  return prs.flatMap(({ number, title, ending }) =>
    shown.get(number)?.includes(ending) === true ? [] : [`#${number} ${title}: expected "${ending}"`],
  );
}

async function open(people: GiteaPeople, { author, of, ending }: (typeof CAST)[number]): Promise<Played> {
  const { title, files } = STORY.find(({ number }) => number === of) ?? { title: '', files: {} };
  const main = await runGit(people.gitea.gitDirOf(REPOSITORY), ['rev-parse', 'refs/heads/main']);
  await people.commit(author, REPOSITORY, `refs/heads/${author}-${of}`, main, { files, message: title });
  const { number } = await people.get(author, 'POST', `${PATH}/pulls`, {
    title,
    head: `${author}-${of}`,
    base: 'main',
  });
  write(`${author} opens #${number} ${title}`);
  return { number, title, author, ending };
}

/** Returns the newest comment of Sluice. */
async function showNews(people: GiteaPeople, { number, title }: Played, shown: Map<number, string>): Promise<string> {
  const comments: { readonly user: { readonly login: string }; readonly body: string }[] = await people.get(
    ...(['root', 'GET', `${PATH}/issues/${number}/comments`] as const),
  );
  const text = readable(comments.findLast(({ user }) => user.login === 'sluice')?.body ?? '');
  if (text !== '' && shown.get(number) !== text) {
    write(`\n${paint('bold', `#${number} ${title}`)}\n${text.replaceAll(/^/gm, '    ')}`);
    shown.set(number, text);
  }
  return text;
}

async function describeEnd(people: GiteaPeople, surprises: readonly string[]): Promise<void> {
  const log = await runGit(people.gitea.gitDirOf(REPOSITORY), ['log', '--first-parent', '--format=%h %s', 'main']);
  write(`\n${paint('bold', `main of ${REPOSITORY}, the newest first:`)}\n${log.replaceAll(/^/gm, '  ')}`);
  write(
    surprises.length > 0
      ? formatSurprises(surprises)
      : '\nTwo landed, each as it was tested. #3 was green alone, and would have broken main together with #2.',
  );
}

/** Runs until the user stops it. */
async function keep(people: GiteaPeople, scene: Scene): Promise<void> {
  const { url } = people.gitea;
  write(`
Look at it: ${await makeLink(scene)}

Everything goes on until Ctrl-C. In another terminal, in this folder:

    export SLUICE_URL=${scene.server.url} SLUICE_DATA=${scene.folder.data}
    ${SLUICE} queue show ${new URL(url).host}/${REPOSITORY} main
    git clone ${url.replace('://', `://radia:${await people.tokenOf('radia')}@`)}/${REPOSITORY}.git
`);
  if (!scene.signal.aborted) await once(scene.signal, 'abort');
}
