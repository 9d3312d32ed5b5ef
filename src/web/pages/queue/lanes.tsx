import { useSignal } from '@preact/signals';
import { lit } from '../../core/lit.ts';
import type { AllTesting, Entry, Queue, Search, TestRun } from '../../core/replies.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { describeLanes, drawLanes, foldLanes, type Lane, type LaneNode } from '../../model/lanes.ts';
import { plural } from '../../model/number.ts';
import { lookOfCheck, lookOfEntry, lookOfRun } from '../../model/state.ts';
import { Shape } from '../../ui/shape.tsx';
import { Since } from '../../ui/text.tsx';
import { Progress } from './progress.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly queue: Queue;
  readonly testing: AllTesting | undefined;
}

/** More boxes in one row would be a wall. The list below has all of them. */
const MOST_BOXES = 12;

/** Draws the runs as they are built on each other: the branch at the left, then candidate upon candidate. */
export function Lanes({ place, queue, testing }: Props) {
  const isWhole = useSignal(false);
  const searches = testing?.searches ?? [];
  if (testing === undefined || (testing.testRuns.length === 0 && searches.length === 0)) return null;
  const picture = drawLanes(testing.testRuns);
  const { rows, singles, more } = foldLanes(picture.lanes, isWhole.value);
  const entries = new Map(queue.enqueuedPullRequests.map((entry) => [entry.prNumber, entry]));
  return (
    <section class="lanes" aria-label={`Under test: ${describeLanes(picture, place.branch)}`}>
      {rows.map(({ nodes }) => (
        <LaneRow key={nodes[0]?.run.testBranch} place={place} nodes={nodes} entries={entries} />
      ))}
      {singles.length > 0 && (
        <div class="lane-grid">
          <span class="branch" title={`The head of ${place.branch}`}>
            {place.branch}
          </span>
          <ul>
            {singles.map((run) => (
              <LaneChip key={run.testBranch} place={place} run={run} />
            ))}
          </ul>
        </div>
      )}
      {(more > 0 || isWhole.value) && (
        <p class="lane-rest">
          {plural(picture.lanes.length, 'lane')}: {tell(picture.lanes)}.{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              isWhole.value = !isWhole.value;
            }}
          >
            {isWhole.value ? 'Show fewer' : `Show ${more} more`}
          </button>
        </p>
      )}
      {picture.ofBranch.map((run) => (
        <ol key={run.testBranch} class="lane">
          <li class="branch">{place.branch}</li>
          <LaneBox place={place} node={{ run, on: [] }} entries={entries} note="The branch itself" />
        </ol>
      ))}
      {searches.map((search, index) => (
        <SearchRow key={`${index}`} place={place} search={search} runs={picture.searches} entries={entries} />
      ))}
    </section>
  );
}

/** Such as `288 testing, 12 passed`. */
function tell(lanes: readonly Lane<TestRun>[]): string {
  const runs = Map.groupBy(
    lanes.flatMap(({ nodes }) => nodes),
    ({ run }) => lookOfRun(run).word.toLowerCase(),
  );
  return [...runs].map(([word, { length }]) => `${length} ${word}`).join(', ');
}

interface RowProps {
  readonly place: QueuePlace;
  readonly nodes: readonly LaneNode<TestRun>[];
  readonly entries: ReadonlyMap<number, Entry>;
}

function LaneRow({ place, nodes, entries }: RowProps) {
  const more = nodes.length - MOST_BOXES;
  const [first, ...others] = nodes.slice(0, MOST_BOXES);
  if (first === undefined) return null;
  const isOnHead = first.on.length === 0;
  return (
    <ol class="lane">
      <li class="branch" title={isOnHead ? `The head of ${place.branch}` : `On top of ${listNumbers(first.on)}`}>
        {isOnHead ? place.branch : `↳ ${shortOf(first.on)}`}
      </li>
      {[{ ...first, on: [] }, ...others].map((node) => (
        <LaneBox key={node.run.testBranch} place={place} node={node} entries={entries} />
      ))}
      {more > 0 && <li class="box rest">and {more} more on top</li>}
    </ol>
  );
}

function listNumbers(numbers: readonly number[]): string {
  return numbers.map((prNumber) => `#${prNumber}`).join(', ');
}

/** The last one is on top of the others. */
function shortOf(numbers: readonly number[]): string {
  return numbers.length > 1 ? `#${numbers.at(-1)} +${numbers.length - 1}` : `#${numbers[0]}`;
}

/** A lane of one run, among many of them. */
function LaneChip({ place, run }: { readonly place: QueuePlace; readonly run: TestRun }) {
  const [first, ...others] = run.testedPullRequests;
  const look = lookOfRun(run);
  if (first === undefined) return null;
  const title = `${look.word}: #${first.prNumber} ${first.title}`;
  return (
    <li class={`tone-${look.tone}${lit.value.has(first.prNumber) ? ' lit' : ''}`}>
      <a href={toPath({ page: 'pr', ...place, prNumber: first.prNumber })} title={title}>
        <Shape name={look.shape} />
        <span class="number">#{first.prNumber}</span> <span class="title">{first.title}</span>
        {others.length > 0 && <span class="muted">+{others.length}</span>}
      </a>
    </li>
  );
}

interface SearchProps {
  readonly place: QueuePlace;
  readonly search: Search;
  readonly runs: readonly TestRun[];
  readonly entries: ReadonlyMap<number, Entry>;
}

/** A search: who is ruled out, who is left, and what is tested to find out. */
function SearchRow({ place, search, runs, entries }: SearchProps) {
  const { suspects, cleared, isScout, testRunIds } = search;
  const own = runs.filter(({ testRunId }) => testRunId !== undefined && testRunIds.includes(testRunId));
  return (
    <div class="search">
      <h3>{isScout ? 'Tested ahead of their turn' : 'Looking for the culprit'}</h3>
      <p class="suspects">
        {cleared.length > 0 && (
          <span>
            <Shape name="check" /> ruled out <Numbers place={place} numbers={cleared} />
          </span>
        )}
        <span>
          <Shape name={isScout ? 'ring' : 'mark'} /> left <Numbers place={place} numbers={suspects} />
        </span>
      </p>
      {own.map((run) => (
        <ol key={run.testBranch} class="lane">
          <li class="branch">{place.branch}</li>
          <LaneBox place={place} node={{ run, on: run.onTopOf ?? [] }} entries={entries} note="Without any of them" />
        </ol>
      ))}
    </div>
  );
}

const MOST_NUMBERS = 12;

function Numbers({ place, numbers }: { readonly place: QueuePlace; readonly numbers: readonly number[] }) {
  const rest = numbers.length - MOST_NUMBERS;
  return (
    <>
      {numbers.slice(0, MOST_NUMBERS).map((prNumber) => (
        <a
          key={prNumber}
          class={`chip${lit.value.has(prNumber) ? ' lit' : ''}`}
          href={toPath({ page: 'pr', ...place, prNumber })}
        >
          #{prNumber}
        </a>
      ))}
      {rest > 0 && <span class="muted">and {rest} more</span>}
    </>
  );
}

interface BoxProps {
  readonly place: QueuePlace;
  readonly node: LaneNode<TestRun>;
  readonly entries: ReadonlyMap<number, Entry>;
  /** In place of pull requests. */
  readonly note?: string;
}

function LaneBox({ place, node, entries, note }: BoxProps) {
  const { run, on } = node;
  const numbers = run.testedPullRequests.map(({ prNumber }) => prNumber);
  const beneath = run.onTopOf ?? [];
  const isLit = numbers.some((number) => lit.value.has(number));
  const first = entries.get(numbers[0] ?? 0);
  const look = lookOfRun(run);
  const checks = [...run.checkSuites.flatMap(({ checkRuns }) => checkRuns), ...run.statusChecks.map(asCheck)];
  const asked = run.asked === undefined ? undefined : `only ${run.asked.join(', ')}`;
  const light = () => {
    lit.value = new Set([...numbers, ...beneath]);
  };
  const dim = () => {
    lit.value = new Set();
  };
  return (
    <li
      class={`box tone-${look.tone}${asked ? ' probe' : ''}${isLit ? ' lit' : ''}`}
      onMouseEnter={light}
      onMouseLeave={dim}
    >
      <div class="members">
        {note !== undefined && numbers.length === 0 && <span>{note}</span>}
        {run.testedPullRequests.slice(0, 4).map(({ prNumber, title }) => (
          <a key={prNumber} href={toPath({ page: 'pr', ...place, prNumber })} title={title}>
            <Shape name={lookOfEntry(entries.get(prNumber)?.state).shape} />
            <span class="number">#{prNumber}</span> <span class="title">{title}</span>
          </a>
        ))}
        {numbers.length > 4 && <span class="muted">and {numbers.length - 4} more</span>}
      </div>
      <div class="checks">
        {checks.map((check) => (
          <span
            key={check.name}
            class={`check tone-${lookOfCheck(check).tone}`}
            title={`${check.name} ${lookOfCheck(check).word}`}
          >
            <Shape name={lookOfCheck(check).shape} />
            {check.name}
          </span>
        ))}
        {on.length > 0 && (
          <span class="tag quiet" title={`Also on top of ${listNumbers(on)}`}>
            also on {shortOf(on)}
          </span>
        )}
        {asked !== undefined && (
          <span class="tag quiet title" title={`A probe: it runs ${asked}, and lands nothing`}>
            {asked}
          </span>
        )}
        {run.reuses !== undefined && <span class="tag">reused: same files as a run</span>}
        {run.createdAt !== undefined && run.status === 'IN_PROGRESS' && (
          <span class="muted since">
            <Since at={run.createdAt} />
          </span>
        )}
      </div>
      <Progress since={run.createdAt} until={first?.state === 'TESTING' ? first.forecast?.landsAtP50 : undefined} />
    </li>
  );
}

function asCheck({ context, state }: TestRun['statusChecks'][number]) {
  const conclusion =
    state === 'SUCCESS' ? 'SUCCESS' : state === 'PENDING' || state === undefined ? undefined : 'FAILURE';
  return { name: context, status: 'IN_PROGRESS' as const, ...(conclusion === undefined ? {} : { conclusion }) };
}
