import { Semaphore } from '../../lib/semaphore.ts';
import type { PersonalMessage, PersonalSender, SendProblem, SendResult } from '../outgoing.ts';

interface PersonalOptions {
  /** `smtp://user:password@host:587`. Undefined: no mail. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  /** Of a bot with the scope chat:write. Undefined: no messages to members of Slack. */
  readonly slackToken: string | undefined;
  readonly slackUrl?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const SLACK_URL = 'https://slack.com/api/chat.postMessage';
/** Providers refuse many connections of one client. */
const MAILS_AT_ONCE = 4;
/** After a failed connection, mails fail at once for so long: each waits for its next attempt instead of the server. */
const AWAY_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Mail by SMTP, and direct messages of Slack. A status of SMTP stands for one of HTTP: 250 is a success as well. */
// SPEC X58
export function createPersonalSender(options: PersonalOptions): PersonalSender {
  const mail = createMailer(options);
  const { slackToken: token, slackUrl: url = SLACK_URL, timeoutMs = TIMEOUT_MS } = options;
  const slack = token === undefined ? undefined : { url, token, timeoutMs };
  return {
    canSend: { EMAIL: mail !== undefined, SLACK_MEMBER: slack !== undefined },
    async send(message) {
      const send = message.format === 'EMAIL' ? mail : slack && ((each: PersonalMessage) => postToSlack(each, slack));
      return send === undefined ? failed('NOT_CONFIGURED') : send(message);
    },
  };
}

function failed(problem: SendProblem): SendResult {
  return { kind: 'failed', problem };
}

/** A connection for each mail: in a queue of kept connections, a mail that was given up might leave later. */
function createMailer({ smtpUrl, mailFrom, timeoutMs = TIMEOUT_MS }: PersonalOptions) {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const options = { url: smtpUrl, ...limits, disableFileAccess: true, disableUrlAccess: true };
  const load = () => import('nodemailer').then(({ createTransport }) => createTransport(options));
  let transport: ReturnType<typeof load> | undefined;
  const slots = new Semaphore(MAILS_AT_ONCE);
  let awayUntil = 0;
  return ({ id, address, body }: PersonalMessage): Promise<SendResult> =>
    slots.run(async () => {
      if (performance.now() < awayUntil) return failed('CONNECTION_FAILED');
      const { subject, text } = JSON.parse(body) as { readonly subject: string; readonly text: string };
      const to = { name: '', address };
      try {
        transport ??= load();
        await (await transport).sendMail({ from: mailFrom, to, subject, text, messageId: `<${id}@sluice>` });
        return { kind: 'answered', status: 250, isAborted: false };
      } catch (error) {
        const { responseCode, code } = error as { readonly responseCode?: number; readonly code?: string };
        if (responseCode !== undefined) return { kind: 'answered', status: responseCode, isAborted: false };
        awayUntil = performance.now() + AWAY_MS;
        return failed(code === 'ETIMEDOUT' ? 'TIMEOUT' : code === 'ETLS' ? 'TLS_FAILED' : 'CONNECTION_FAILED');
      }
    });
}

interface SlackPlace {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Slack answers 200 to what it refuses, and says so in the body. */
async function postToSlack(
  { address, body }: PersonalMessage,
  { url, token, timeoutMs }: SlackPlace,
): Promise<SendResult> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...JSON.parse(body), channel: address }),
    });
    const text = await readStart(answer);
    if (!answer.ok) return { kind: 'answered', status: answer.status, isAborted: false };
    const isTaken = (JSON.parse(text) as { readonly ok?: unknown }).ok === true;
    return isTaken ? { kind: 'answered', status: answer.status, isAborted: false } : failed('REFUSED');
  } catch (error) {
    return failed((error as Error).name === 'TimeoutError' ? 'TIMEOUT' : 'CONNECTION_FAILED');
  }
}

async function readStart(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
