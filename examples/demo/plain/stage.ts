import { createContext } from '../../../src/cli/core/context.ts';
import { paint, terminalWidth, write } from '../../../src/cli/core/terminal.ts';
import { watchQueue } from '../../../src/cli/watch/watch-queue.ts';
import type { EntryRecord } from '../../../src/contract/entry.ts';
import { initBare } from '../../../src/git/git-dir.ts';
import { SLUICE } from '../../../src/lib/sluice-command.ts';
import { shellWord } from '../../../src/lib/text.ts';
import type { DemoFolder } from '../demo-folder.ts';
import { formatSurprises, makeLink, type Scene, type Stage } from '../scene.ts';
import { SHOP, STORY } from '../story.ts';
import { fastImport, type ImportedCommit, setHead } from './fast-import.ts';
import { BRANCH, play, QUEUE, setUp, submitFirst } from './play.ts';
import { formatLessons, formatOutcomes } from './summary.ts';
import { findSurprises } from './verdict.ts';

/** A Monday morning. Fixed, so that the commits are the same every time. */
const BEGIN = Date.UTC(2026, 0, 5, 9) / 1000;

/** A bare repository on this machine; its commands are its CI. */
export const plainStage: Stage = {
  prepare: async (folder) => {
    write(formatBeginning(folder));
    await makeRepository(folder.repository);
  },
  play: async (scene) => {
    const records = await show(scene);
    const surprises = findSurprises(records);
    write(formatEnd(records, surprises, scene));
    if (!scene.isKept) return surprises;
    await scene.server.leaveRunning();
    write(`\nLook at it: ${await makeLink(scene)}\n(It signs in once, within 10 minutes. Later: ${SLUICE} open)`);
    return surprises;
  },
};

function formatBeginning({ path }: DemoFolder): string {
  const later = STORY.filter(({ comesLater }) => comesLater).length;
  return [
    paint(
      'bold',
      `A merge queue at work: ${STORY.length} pull requests for a small shop, two checks, one main branch.`,
    ),
    `The repository, the server's data and its log are in ${path}`,
    '',
    `${STORY.length - later} are submitted while the queue is paused, so that they enter it together; ${later} come later.`,
    '',
  ].join('\n');
}

/** The shop on its main branch, and each pull request of the story one commit ahead of it. */
async function makeRepository(gitDir: string): Promise<void> {
  await initBare(gitDir, 'sha1');
  await fastImport(gitDir, [
    { ref: `refs/heads/${BRANCH}`, author: formatAuthor('Ada'), at: BEGIN, message: 'Open the shop\n', files: SHOP },
    ...STORY.map(
      ({ number, author, title, files }): ImportedCommit => ({
        ref: `refs/pull/${number}/head`,
        parent: 0,
        author: formatAuthor(author),
        at: BEGIN + number * 60,
        message: `${title}\n`,
        files,
      }),
    ),
  ]);
  await setHead(gitDir, BRANCH);
}

function formatAuthor(name: string): string {
  return `${name} <${name.toLowerCase()}@example.com>`;
}

/** Everything between the start of the server and the last landing. */
async function show({ folder, server, signal }: Scene): Promise<readonly EntryRecord[]> {
  const context = createContext({ url: server.url, tokenFile: server.tokenFile });
  await setUp(context, folder);
  await submitFirst(context, write, signal);
  write('');
  const closing = new AbortController();
  const view = watchQueue(context, QUEUE, { signal: closing.signal });
  // `finish` reports the error; if it happens before, `play` fails for the same reason.
  view.ended.catch(() => undefined);
  try {
    const records = await play(context, view.tell, signal);
    await view.finish();
    signal.throwIfAborted();
    write('');
    return records;
  } finally {
    closing.abort();
  }
}

function formatEnd(records: readonly EntryRecord[], surprises: readonly string[], scene: Scene): string {
  const { repository, isTemporary } = scene.folder;
  // Commands on files that are about to be removed would mislead.
  const isLeft = scene.isKept || !isTemporary || surprises.length > 0;
  return [
    formatOutcomes(records, terminalWidth()),
    ...(isLeft ? [formatHowToGoOn(scene)] : []),
    surprises.length > 0 ? formatSurprises(surprises) : formatLessons(records, isLeft ? repository : undefined),
  ].join('\n');
}

/** The variables and commands for the user's shell. */
function formatHowToGoOn({ folder: { data, environment, pid }, server, isKept }: Scene): string {
  const lines = isKept
    ? [
        `The server goes on at ${server.url}. To look further, and to stop it when you are done:`,
        '',
        `    . ${shellWord(environment)}`,
        `    kill $(cat ${shellWord(pid)})`,
      ]
    : [
        'The server is stopped. To look further, start it again, and go on in another terminal:',
        '',
        `    SLUICE_DATA=${shellWord(data)} ${SLUICE} serve`,
        `    export SLUICE_DATA=${shellWord(data)}`,
      ];
  return `${lines.join('\n')}\n`;
}
