import { formatRepo } from '../core/arguments.ts';
import { quote } from '../core/quote.ts';
import { paint } from '../core/terminal.ts';
import type { DemoFolder } from './demo-folder.ts';
import type { DemoServer } from './demo-server.ts';
import { BRANCH } from './make-repository.ts';
import { REPO } from './play.ts';
import { STORY } from './story.ts';

export const QUEUE_WORDS = `${formatRepo(REPO)} ${BRANCH}`;

/** What one types for `sluice`: whoever came by npx or npm run may have no other. */
export function sluiceCommand(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['npm_command'] === undefined ? 'sluice' : 'npx sluice';
}

export function formatBeginning({ path }: DemoFolder): string {
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

/** What to set and type, in the shell that comes next. */
export function formatHowToGoOn({ data, environment, pid }: DemoFolder, server: DemoServer | undefined): string {
  const sluice = sluiceCommand();
  const lines =
    server === undefined
      ? [
          'The server is stopped. To look further, start it again, and go on in another terminal:',
          '',
          `    SLUICE_DATA=${quote(data)} ${sluice} serve`,
          `    export SLUICE_DATA=${quote(data)}`,
        ]
      : [
          `The server goes on at ${server.url}. To look further, and to stop it when you are done:`,
          '',
          `    . ${quote(environment)}`,
          `    kill $(cat ${quote(pid)})`,
        ];
  return `${lines.join('\n')}\n`;
}

export function formatSurprises(surprises: readonly string[]): string {
  const lines = surprises.map((surprise) => `- ${surprise}`);
  return `${paint('red', 'Not everything went as it should:')}\n${lines.join('\n')}\n`;
}

export function formatWhereItIs(
  { path, log }: DemoFolder,
  { isRemoved, isExpected }: { readonly isRemoved: boolean; readonly isExpected: boolean },
): string {
  if (isRemoved)
    return `${path} is removed. To keep it, and to be told how to see all this for yourself: ${sluiceCommand()} demo --keep`;
  return isExpected ? `Everything is in ${path}` : `Everything is kept in ${path}; what the server said is in ${log}`;
}
