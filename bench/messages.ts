import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { startHere, until } from '../test/e2e/harness.ts';
import { createQueue } from '../test/e2e/test-queue.ts';
import { p95, printFigure, progress } from './lib/figure.ts';

const PEOPLE = 100;
const ROUNDS = 10;

/** How long mail takes from the end of a pull request to a mail server, if all people are told of the same one. */
export async function run(): Promise<void> {
  const delays: number[] = [];
  let since = 0;
  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      stream.resume();
      stream.on('end', () => {
        delays.push(performance.now() - since);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', () => resolve()));
  const { port } = mail.server.address() as AddressInfo;
  const server = await startHere({ SLUICE_SMTP_URL: `smtp://127.0.0.1:${port}`, SLUICE_MAIL_FROM: 'sluice@acme.test' });
  const queue = await createQueue(server.api);
  const account = { host: 'local', login: 'Grace' };
  for (let index = 0; index < PEOPLE; index += 1)
    await server.api.ok('createNotification', { account, via: 'EMAIL', address: `p${index}@acme.test` });
  const number = await queue.openPullRequest();
  for (let round = 1; round <= ROUNDS; round += 1) {
    await queue.submit(number);
    since = performance.now();
    await server.api.ok('cancelPullRequest', queue.entry(number));
    await until('all have their mail', 60_000, async () => delays.length === round * PEOPLE || undefined);
    progress(`${delays.length} mails`);
  }
  printFigure({
    name: `mail to one of ${PEOPLE} people after the event, p95`,
    value: p95(delays),
    unit: 'ms',
    goal: 5_000,
  });
  await server.stop();
  await queue.close();
  await new Promise<void>((resolve) => mail.close(() => resolve()));
}
