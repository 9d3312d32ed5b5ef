import type { Landed } from '../../engine/model/candidate.ts';
import { type Entry, isLive } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { ExplanationReason, FailedCheck, FailedTest } from '../../words/explanation.ts';
import { isUntested } from '../../words/headlines.ts';
import { landingProof } from '../../words/landing.ts';
import { minuteOf } from '../../words/phrases.ts';
import { heardText } from '../../words/testing.ts';
import { latelyText, VERBS } from '../../words/tests.ts';
import type { HowToSubmit, PageFacts, RunFacts, TimelineSentence } from './collect-page-facts.ts';
import { code, joinLines, link, tame, words } from './markdown.ts';

/** Marks our comment, to find it again. Texts by others are escaped and cannot contain it. */
export const COMMENT_MARKER = '<!-- sluice:queue -->';

/** GitHub's limit is 65,536. */
const MAX_COMMENT = 60_000;
const REST = '*There is more than a comment can hold.*';
const MAX_REASONS = 20;
const MAX_DEPTH = 3;

/** One comment covers all queues that ever had the pull request, the relevant one first. */
// SPEC G45, G142
export function renderComment(queues: readonly PageFacts[], at: Instant): { text: string; essence: string } {
  const [first, ...others] = queues;
  if (first === undefined) return { text: COMMENT_MARKER, essence: '' };
  const render = (shown: PageFacts) => {
    const lines = [COMMENT_MARKER, ...renderSituation(shown), ...others.flatMap(renderBriefly)];
    return [joinLines(lines, MAX_COMMENT, REST), ...renderWays(shown)].join('\n');
  };
  const dashboard = first.dashboard === undefined ? '' : ` ${link('Live on the dashboard', first.dashboard)}.`;
  // The time of writing, the forecast and how many others are queued are no part of the essence: an unchanged comment
  // is not written again.
  return {
    text: `${render(first)}\n\n<sub>As of ${minuteOf(at)}.${renderForecast(first, at)}${dashboard}</sub>`,
    essence: render({ ...first, admitted: 0 }),
  };
}

/** As instants, because a comment is read long after it was written. */
// SPEC Z8
function renderForecast({ forecast }: PageFacts, at: Instant): string {
  if (forecast === undefined || forecast.landsAtP95 <= at) return '';
  return ` Lands at about ${minuteOf(Math.max(at, forecast.landsAtP50))} (95%: by ${minuteOf(forecast.landsAtP95)}).`;
}

/** Everything without the commands. The check run shows it too. */
export function renderSituation(situation: PageFacts): string[] {
  return [
    renderHeadline(situation),
    ...renderFailures(situation),
    ...renderSentences(situation),
    ...renderStack(situation),
    ...renderLanded(situation),
    ...renderRun(situation),
    ...renderTree(situation),
    ...renderNext(situation),
  ];
}

/** For a queue that does not have the pull request any more. */
function renderBriefly(situation: PageFacts): string[] {
  return [
    '',
    renderHeadline(situation).replace(/^###/, '####'),
    ...renderSentences(situation),
    ...renderTree(situation),
  ];
}

function renderSentences(situation: PageFacts): string[] {
  const { entry, retestReason, submittedBy, explanation, linkable } = situation;
  if (!isLive(entry.state)) return renderEnd(situation);
  const by = entry.state === 'NOT_READY' && submittedBy !== undefined ? [`Submitted by ${code(submittedBy)}.`] : [];
  const isAgain = entry.state === 'PENDING' || entry.state === 'TESTING';
  const isNews =
    retestReason !== undefined && !explanation.reasons.some(({ text }) => text.startsWith(retestReason.text));
  const back = isAgain && isNews ? [renderSaid(retestReason, linkable)] : [];
  return [...by, ...back].flatMap((line) => ['', line]);
}

/** "Built on #5 and #6. Built on it: #8." */
// SPEC O39
function renderStack({ entry, above, linkable }: PageFacts): string[] {
  const below = (entry.pr.below ?? []).map(({ number }) => number);
  const lines = [
    ...(below.length === 0 ? [] : [`Built on ${listNumbers(below, linkable, ' and ')}.`]),
    ...(above.length === 0 ? [] : [`Built on it: ${listNumbers(above, linkable, ' and ')}.`]),
  ];
  return lines.length === 0 || entry.state === 'MERGED' ? [] : ['', lines.join(' ')];
}

/** The reasons why it waits. After its end, the tests that fail at random since then stay news. */
function renderTree({ entry, explanation: { reasons }, linkable }: PageFacts): string[] {
  const told = isLive(entry.state) ? reasons : reasons.filter(({ code: of }) => of === 'FLAKY_SINCE');
  const tree = renderReasons(told, linkable);
  return tree.length === 0 ? [] : ['', ...tree];
}

/** The reason why it left. The proof of a landing says more than this sentence. */
function renderEnd(situation: PageFacts): string[] {
  const { entry, explanation, linkable } = situation;
  if (entry.landed !== undefined && entry.lost === undefined) return [];
  const text = explanation.reasons[0]?.text ?? explanation.summary;
  return ['', renderSaid({ text, actor: entry.because.actor }, linkable)];
}

/** A name is shown as code, so that it mentions nobody; so is the code of a removal. */
function renderSaid({ text: whole, actor = '' }: TimelineSentence, ours: ReadonlySet<number>): string {
  const [ending = '', reason = ''] = / \[([A-Z_]+)\]$/.exec(whole) ?? [];
  const text = whole.slice(0, whole.length - ending.length);
  const end = reason === '' ? '' : ` [${code(reason)}]`;
  const shown = (part: string) => words(part, { ours, maxLength: 2_000 });
  const name = ` by ${actor}.`;
  const at = actor === '' ? -1 : text.indexOf(name);
  if (at < 0) return shown(text) + end;
  const rest = shown(text.slice(at + name.length));
  return `${shown(text.slice(0, at))} by ${code(actor)}.${rest === '' ? '' : ` ${rest}`}${end}`;
}

function renderRun({ entry, run, page, linkable }: PageFacts): string[] {
  if (run === undefined || entry.state === 'NOT_READY' || isUntested(entry)) return [];
  // An abandoned candidate without a result is not worth showing.
  if (entry.state === 'PENDING' && entry.place.kind !== 'search' && run.failed.length === 0) return [];
  if (run.provenBy !== undefined) return ['', `Exactly these files had passed before, in run ${code(run.provenBy)}.`];
  const isRunning = entry.state === 'TESTING';
  const others = run.members.filter((number) => number !== entry.prNumber);
  const alone = run.isBisection && run.beneath.length === 0 ? ' alone' : '';
  const withWhom = others.length === 0 ? alone : ` together with ${listNumbers(others, linkable)}`;
  const onTop = run.beneath.length === 0 ? '' : ` on top of ${listNumbers(run.beneath, linkable)}`;
  const where = `${isRunning ? 'It is being tested' : 'It was tested'}${withWhom}${onTop} on branch`;
  const required = run.required.length === 0 || !isRunning ? [] : [renderRequired(run)];
  return ['', `${where} ${renderBranch(run, page)}.`, ...required];
}

/** A check that is misnamed, or not run on the test branch, never reports: the warning comes before the timeout. */
function renderRequired({ required, silentSince, heard, endsAt }: RunFacts): string {
  const names = listNames(required);
  const silence = silentSince === undefined ? '' : ` ${renderSilence(required, heard, silentSince)}`;
  const rest =
    endsAt === undefined ? '' : ` Checks that have not reported by ${minuteOf(endsAt)} are treated as failed.`;
  return `Required: ${names}.${silence}${rest}`;
}

function renderSilence(required: readonly string[], heard: readonly string[], since: Instant): string {
  const it = required.length === 1 ? 'It has' : 'They have';
  const guess = heardText(required, heard);
  const name = required.length === 1 ? 'this name' : 'these names';
  const question = guess === '' ? `Does CI run for this branch, and report under ${name}?` : words(guess.trim());
  return `**${it} not reported since ${minuteOf(since)}.** ${question}`;
}

/** The test branch is removed with the candidate. Its commit, and a search for the draft pull request, still work. */
function renderBranch({ branch, sha, hasDraft }: RunFacts, page: string | undefined): string {
  const shown = code(branch);
  if (page === undefined) return shown;
  const commit = sha === undefined ? '' : ` at ${link(code(sha.slice(0, 12)), `${page}/commit/${sha}`)}`;
  const search = `${page}/pulls?q=${encodeURIComponent(`is:pr head:${branch}`)}`;
  return `${shown}${commit}${hasDraft ? ` (${link('draft pull request', search)})` : ''}`;
}

const MAX_LISTED = 20;

function listNumbers(numbers: readonly number[], ours: ReadonlySet<number>, last = ', '): string {
  const shown = numbers.slice(0, MAX_LISTED).map((number) => words(`#${number}`, { ours }));
  if (numbers.length > shown.length) return `${shown.join(', ')} and ${numbers.length - shown.length} more`;
  return [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter((part) => part !== '').join(last);
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => code(name));
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}

function renderLanded({ entry, branch, page, linkable }: PageFacts): string[] {
  const { landed } = entry;
  if (landed === undefined || entry.state !== 'MERGED' || entry.lost !== undefined) return [];
  const commit = link(code(landed.sha.slice(0, 12)), page === undefined ? undefined : `${page}/commit/${landed.sha}`);
  const proof = words(landingProof(landed), { ours: linkable });
  return ['', `It is on ${code(branch)}. Its commit ${commit} ${proof}.`, ...renderWaived(landed)];
}

function renderWaived({ waived = [], excused = [] }: Landed): string[] {
  const lines = [
    ...waived.map(({ check, tests }) => `${code(check)} failed only in tests that are excused: ${listTests(tests)}.`),
    ...excused.map(({ check, tests }) => `${code(check)} passed; failed tests are excused: ${listTests(tests)}.`),
  ];
  return lines.slice(0, MAX_LISTED).map((line) => `\n${line}`);
}

function listTests(tests: readonly { readonly name: string }[]): string {
  return listNames(tests.map(({ name }) => name));
}

function renderNext({ entry, explanation, linkable, howToSubmit }: PageFacts): string[] {
  if (entry.state === 'MERGED') return [];
  const again = isLive(entry.state) ? undefined : renderAgain(howToSubmit);
  if (again === undefined) return ['', `**Next:** ${words(explanation.next, { ours: linkable })}`];
  return ['', `**Next:** ${words(explanation.next.replace(/\.$/, ''), { ours: linkable })}: ${again}.`];
}

/** The commands and labels that a person can use. A landed pull request needs none. */
function renderWays({ entry, howToSubmit: { hasCommands, label } }: PageFacts): string[] {
  if (!isLive(entry.state)) return [];
  if (hasCommands) return ['', `<sub>${renderCommands(entry)}</sub>`];
  return label === undefined ? [] : ['', `Taking the label ${code(label)} off takes it out of the queue.`];
}

/** How the author submits it again, as the end of a sentence. */
function renderAgain({ hasCommands, label }: HowToSubmit): string | undefined {
  const ways = [
    ...(hasCommands ? ['comment `/sluice merge`'] : []),
    ...(label === undefined ? [] : [`put the label ${code(label)} on it`]),
  ];
  return ways.length === 0 ? undefined : ways.join(', or ');
}

function renderCommands({ state }: Entry): string {
  const restart = state === 'TESTING' || state === 'PENDING_FAILURE' ? ' `/sluice restart` tests it again,' : '';
  return `\`/sluice cancel\` takes it out of the queue,${restart} \`/sluice merge -p high\` changes its priority; \`/sluice help\` says more.`;
}

/** The tree of reasons as nested lists. Depth is limited; a long list ends with the number of hidden reasons. */
function renderReasons(reasons: readonly ExplanationReason[], ours: ReadonlySet<number>): string[] {
  const lines: string[] = [];
  let left = 0;
  const add = (list: readonly ExplanationReason[], depth: number) => {
    for (const reason of list.flatMap(simplify)) {
      if (lines.length < MAX_REASONS)
        lines.push(`${'  '.repeat(depth)}- ${words(withPlainTimes(reason.text), { ours })}${renderDetails(reason)}`);
      else left += 1;
      if (depth + 1 < MAX_DEPTH) add(reason.reasons, depth + 1);
    }
  };
  add(reasons, 0);
  return left === 0 ? lines : [...lines, `- ${left} more`];
}

function renderDetails({ url }: ExplanationReason): string {
  return url === undefined ? '' : ` ${link('Details', url)}`;
}

/** Leaves out reasons that the comment shows elsewhere, or that change within moments. */
function simplify(reason: ExplanationReason): ExplanationReason[] {
  switch (reason.code) {
    // The candidate, its checks and the failures have places of their own.
    case 'CHECK_OPEN':
    case 'CHECK_FAILED':
    case 'TESTING':
      return [];
    case 'FAILED_CHECKS':
    case 'BISECTION':
      return [...reason.reasons].flatMap(simplify);
    // Its text already contains the first of its reasons.
    case 'NOT_MERGEABLE':
      return [reason.reasons.length > 1 ? { ...reason, text: 'It cannot be merged:' } : { ...reason, reasons: [] }];
    default:
      return [reason];
  }
}

function withPlainTimes(text: string): string {
  return text.replace(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z/g, '$1 $2 UTC');
}

/** Markdown, one line. */
function renderHeadline({ headline: { icon, text }, branch, explanation, admitted }: PageFacts): string {
  const { position } = explanation;
  const place = position === undefined ? '' : `, number ${position} of ${Math.max(position, admitted)}`;
  return `### ${icon} ${text} · ${code(branch)}${place}`;
}

/** Plain text, one line. */
export function titleOf({ entry, run, headline: { text } }: PageFacts): string {
  const checks = run?.failed.filter(({ isWaived }) => !isWaived).map(({ name }) => tame(name, 60)) ?? [];
  if (entry.state === 'MERGED' && entry.landed !== undefined) return `${text} as ${entry.landed.sha.slice(0, 12)}`;
  if (entry.state !== 'FAILED' || checks.length === 0) return text;
  const more = checks.length > 2 ? ` and ${checks.length - 2} more` : '';
  return `${text}: ${checks.slice(0, 2).join(', ')}${more}`;
}

const MAX_CHECKS = 20;
const MAX_TESTS = 20;
/** Half of a comment, so that the rest fits too. */
const MAX_LENGTH = 30_000;

const TEST_KINDS: { readonly [Kind in FailedTest['kind']]: string } = {
  failed: '',
  flaky: ' (known to be flaky)',
  broken: ' (known to be broken)',
  quarantined: ' (quarantined)',
};

/** The failed checks, each with its link and its failed tests. */
function renderFailures({ entry, run }: PageFacts): string[] {
  if (run === undefined || run.failed.length === 0 || entry.state === 'NOT_READY' || entry.state === 'MERGED')
    return [];
  const renderCheck = (check: FailedCheck) => renderOne(check, run.branch);
  const lines = joinLines(run.failed.slice(0, MAX_CHECKS).flatMap(renderCheck), MAX_LENGTH, '- and more');
  const more = run.failed.length - MAX_CHECKS;
  return ['', lines, ...(more > 0 ? [`- ${more} more checks failed`] : [])];
}

function renderOne(check: FailedCheck, branch: string): string[] {
  const { name, conclusion, url, summary, isWaived } = check;
  const what = conclusion === undefined ? renderUnreported(check, branch) : VERBS[conclusion];
  const excuse = isWaived ? ', only in quarantined tests: it counts as passed' : '';
  const said = summary === undefined || summary.trim() === '' ? '' : `: ${words(summary, { maxLength: 300 })}`;
  return [`- ${link(code(name), url)} ${what}${excuse}${said}`, ...renderTests(check)];
}

/** The usual cause is that CI is not configured for test branches. */
function renderUnreported({ hasBegun }: FailedCheck, branch: string): string {
  const [prefix = ''] = branch.split('/');
  return hasBegun ? 'did not finish in time' : `never reported. Does CI run for branches ${code(`${prefix}/**`)}?`;
}

function renderTests({ tests, failing }: FailedCheck): string[] {
  const shown = tests.slice(0, MAX_TESTS);
  const more = Math.max(failing, tests.length) - shown.length;
  const lines = shown.map(({ name, kind, url, lately }) => {
    const history = lately === undefined ? '' : `. ${latelyText(lately)}`;
    return `  - ${link(code(name), url)}${TEST_KINDS[kind]}${history}`;
  });
  if (more <= 0) return lines;
  return [...lines, `  - ${more} more ${more === 1 ? 'test' : 'tests'} failed`];
}
