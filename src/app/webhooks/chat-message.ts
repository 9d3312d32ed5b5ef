import { DAILY_DIGEST } from '../../contract/events.ts';
import { present } from '../../lib/present.ts';
import type { Webhook } from '../../storage/webhooks.ts';
import { batchText } from '../../words/batch.ts';
import type { FeedEvent } from '../core/feed-event.ts';

/** A message to people: what happened, where, and what to do now. */
export interface Message {
  readonly sentence: string;
  readonly where: string;
  readonly link?: { readonly text: string; readonly url: string };
  readonly nextStep?: string;
  readonly sections?: readonly Section[];
}

interface Link {
  readonly text: string;
  readonly url?: string | undefined;
}

export interface Section {
  readonly title: string;
  readonly lines: readonly Link[];
}

/** A removal leaves the step to the one to blame. */
// SPEC V76
const BLAMED: Readonly<Record<string, string>> = {
  AUTHOR: 'Fix it, push, and submit it again.',
  CI: 'Look in CI why it failed, then submit it again.',
  ADMINISTRATOR: 'An administrator of the queue looks at it. Then submit it again.',
  UNDECIDED: 'The owner of the flaky tests mends them, or an administrator quarantines them. Then submit it again.',
};

const NEXT_STEPS: Readonly<Record<string, string>> = {
  'pull_request.submitted': 'Nothing to do: the queue waits for the requirements.',
  'pull_request.queued': 'Nothing to do: tests start in turn.',
  'pull_request.testing': 'Nothing to do while the tests run.',
  'pull_request.pending_failure': 'Nothing to do yet: Sluice finds out which change caused the failure.',
  'pull_request.failed': 'Read what to do: sluice pr status.',
  'pull_request.canceled': 'Submit it again when it should land.',
  'pull_request.merged': 'Nothing to do.',
  'queue.held': 'Repair the branch. The queue continues automatically.',
  'queue.paused': 'Nothing lands until the queue is resumed.',
  'queue.drained': 'Pull requests in the queue still land. New ones are refused.',
  'alarm.raised': 'An administrator should look at the queue: sluice status.',
  'webhook.disabled': 'Repair the endpoint, then run: sluice webhook update --enable.',
  'test_case.status_changed': 'Its code owners should look at it, or quarantine it: sluice tests list.',
  'upload.ignored': 'Nothing to do.',
  [DAILY_DIGEST]: 'Repair them, or decide about their quarantine: sluice tests list.',
};

/** `prNumbers` are the pull requests that the message stands for, where it tells of a batch. */
// SPEC X35
export function chatMessage(event: FeedEvent, prNumbers: readonly number[] | null): Message {
  const { type, repo, targetBranch, data, text } = event;
  const url = data['url'];
  const where = repo === undefined ? '' : `${repo.owner}/${repo.name}${targetBranch ? ` (${targetBranch})` : ''}`;
  const blamed = type.endsWith('.failed') ? BLAMED[String(data['blame'])] : undefined;
  const nextStep = blamed ?? NEXT_STEPS[type.replace('pull_request_batch.', 'pull_request.')];
  return {
    sentence: prNumbers === null ? text : sayTogether(event, prNumbers),
    where,
    ...(typeof url === 'string' && URL.canParse(url) ? { link: { text: linkText(event), url } } : {}),
    ...present({ nextStep }),
  };
}

function sayTogether({ type, targetBranch = '', data }: FeedEvent, prNumbers: readonly number[]): string {
  const word = type === 'landing.recorded' ? 'merged' : type.slice(type.indexOf('.') + 1);
  const { reason, checks } = data as { readonly reason?: string; readonly checks?: readonly string[] };
  return batchText({ word, prNumbers, branch: targetBranch, reason, checks });
}

function linkText({ prNumber, data }: FeedEvent): string {
  const title = typeof data['title'] === 'string' ? ` ${data['title']}` : '';
  return prNumber === undefined ? 'Open' : `#${prNumber}${title}`;
}

/** Slack reads these three characters as markup. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** These characters in an address would end the link early. */
function slackLink({ text, url }: Link): string {
  return url === undefined ? escapeSlack(text) : `<${url.replace(/[<>|]/g, encodeURIComponent)}|${escapeSlack(text)}>`;
}

export function chatBody(format: Exclude<Webhook['format'], 'STANDARD'>, message: Message): object {
  if (format === 'EMAIL') return mailBody(message);
  return format === 'TEAMS' ? teamsBody(message) : slackBody(message);
}

const MAX_SUBJECT = 150;

/** Plain text: titles and names of tests cannot format it. A subject is one line without control characters. */
// SPEC X59
export function mailBody({ sentence, where, link, nextStep, sections = [] }: Message): object {
  const clean = (text: string) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  const subject = [where === '' ? '' : `[${clean(where)}]`, clean(sentence)].filter(Boolean).join(' ');
  const lines = [
    ...[sentence, nextStep, link && `${link.text}: ${link.url}`].filter((line) => line !== undefined),
    ...sections.flatMap((section) => [
      section.title,
      ...section.lines.map(({ text, url }) => (url === undefined ? `- ${text}` : `- ${text} ${url}`)),
    ]),
  ];
  return {
    subject: subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1).toWellFormed()}…` : subject,
    text: `${lines.map(clean).join('\n\n')}\n`,
  };
}

export function slackBody({ sentence, where, link, nextStep, sections = [] }: Message): object {
  const heading = where === '' ? escapeSlack(sentence) : `*${escapeSlack(where)}* ${escapeSlack(sentence)}`;
  const linked = link && slackLink(link);
  const lines = [heading, linked, nextStep && `_${escapeSlack(nextStep)}_`].filter((line) => line !== undefined);
  const plain = [where, sentence, nextStep].filter(Boolean).join(' ');
  return {
    text: escapeSlack(plain),
    blocks: [lines, ...sections.map(slackLines)].map((each) => ({
      type: 'section',
      text: { type: 'mrkdwn', text: each.join('\n') },
    })),
    unfurl_links: false,
  };
}

function slackLines({ title, lines }: Section): readonly string[] {
  return [`*${escapeSlack(title)}*`, ...lines.map((line) => `• ${slackLink(line)}`)];
}

/** Markdown of an adaptive card. */
function escapeCard(text: string): string {
  return text.replace(/[\\*_[\]`~]/g, '\\$&');
}

function cardLink({ text, url }: Link): string {
  return url === undefined ? escapeCard(text) : `[${escapeCard(text)}](${url.replace(/[()]/g, encodeURIComponent)})`;
}

export function teamsBody({ sentence, where, link, nextStep, sections = [] }: Message): object {
  const markdown = (text: string, style: object = {}) => ({ type: 'TextBlock', wrap: true, text, ...style });
  const block = (text: string, style?: object) => markdown(escapeCard(text), style);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      ...(where === '' ? [] : [block(where, { weight: 'Bolder' })]),
      block(sentence),
      ...(nextStep === undefined ? [] : [block(nextStep, { isSubtle: true })]),
      ...sections.flatMap(({ title, lines }) => [
        block(title, { weight: 'Bolder' }),
        ...lines.map((line) => markdown(`• ${cardLink(line)}`, { spacing: 'None' })),
      ]),
    ],
    ...(link === undefined ? {} : { actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.url }] }),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return { type: 'message', attachments: [attachment] };
}
