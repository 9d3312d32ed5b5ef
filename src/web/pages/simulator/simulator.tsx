import { call, type Reply } from '../../core/api.ts';
import { goTo, query, setQuery } from '../../core/location.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import { type Resource, useFormer, useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { formatHours, formatMinutes } from '../../model/number.ts';
import { type Change, changesOf, compare, parseTried, settingsOf, type Tried } from '../../model/simulation.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded, Problem } from '../../ui/page-states.tsx';
import { useAsked } from '../../ui/use-asked.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { Controls } from './controls.tsx';
import { Curve } from './curve.tsx';
import { nameOfReplay, type Replay } from './name-of-replay.ts';

type Advice = Reply<'adviseQueue'>;

/** The last weeks of this queue, replayed under other settings. */
export function SimulatorPage({ place }: { readonly place: QueuePlace }) {
  useTitle(`Simulator of ${place.branch}`);
  const advice = useResource(`advice ${keyOf(place)}`, (signal) =>
    call(place.org, 'adviseQueue', queueBody(place), { signal }),
  );
  const queue = useResource(
    `simulated ${keyOf(place)}`,
    (signal) => call(place.org, 'getQueue', queueBody(place), { signal }),
    { isTouchedBy: (event) => touches(place, event) && event.type === 'queue.settings_changed' },
  );
  return (
    <>
      <h1>Simulator</h1>
      <p class="muted">
        The pull requests that this queue decided last, replayed in simulated time: as the queue is set, with ADAPTIVE
        at five prices of a CI run, and with the settings that you try.
      </p>
      <Loaded of={advice}>
        {(value) => (
          <Loaded of={queue}>
            {(present) =>
              value.replays.length === 0 ? (
                <TooLittle text={value.text} />
              ) : (
                <Trial place={place} present={present} advice={value} />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function TooLittle({ text }: { readonly text: string }) {
  return (
    <Empty title="Too little history" isPart>
      <p>{text}</p>
      <p>Meanwhile, the command line compares settings on made-up pull requests, or on a file of outcomes:</p>
      <pre>
        <code>sluice simulate --per-hour 20 --failure-rate 0.05 --set optimizationMode=ADAPTIVE</code>
      </pre>
    </Empty>
  );
}

interface TrialProps {
  readonly place: QueuePlace;
  readonly present: Tried;
  readonly advice: Advice;
}

function Trial({ place, present, advice }: TrialProps) {
  const tried = parseTried(query.value, present);
  const changes = changesOf(present, tried);
  const result = useTrial(place, changes, tried);
  const [asItIs, other] = result.value?.replays ?? [];
  return (
    <>
      <p class="lead">{advice.text}</p>
      <div class="trial">
        <Controls present={present} tried={tried} />
        <div class={result.isFormer && changes.length > 0 ? 'stale' : ''}>
          <Curve replays={advice.replays} {...(changes.length > 0 && other !== undefined ? { tried: other } : {})} />
        </div>
      </div>
      {changes.length > 0 && (
        <section class="tried" aria-label="With the settings that you try" aria-busy={result.isFormer}>
          {result.problem !== undefined && <Problem problem={result.problem} onRetry={result.refresh} />}
          {result.value !== undefined && asItIs === undefined && <p class="muted">{result.value.text}</p>}
          {asItIs !== undefined && other !== undefined && <Figures asItIs={asItIs} other={other} />}
          <Apply place={place} changes={changes} tried={tried} />
        </section>
      )}
      <Table replays={advice.replays} />
      <p class="muted">{advice.decided} pull requests were replayed. Runs that fail by chance are not simulated.</p>
    </>
  );
}

const SETTLED_MS = 250;

/** Asks for a replay when the controls have come to rest. */
function useTrial(
  place: QueuePlace,
  changes: readonly Change[],
  tried: Tried,
): Resource<Advice | undefined> & { readonly isFormer: boolean } {
  const settings = useSettled(JSON.stringify(settingsOf(changes, tried)), SETTLED_MS);
  return useFormer(
    useResource(`trial ${keyOf(place)} ${settings}`, async (signal) => {
      if (settings === '{}') return undefined;
      return call(
        place.org,
        'adviseQueue',
        { ...queueBody(place), settings: JSON.parse(settings) as object },
        { signal },
      );
    }),
  );
}

function Figures({ asItIs, other }: { readonly asItIs: Replay; readonly other: Replay }) {
  const figures = [
    ['CI hours', asItIs.ciHours, other.ciHours, formatHours],
    ['Half land within', asItIs.p50Minutes, other.p50Minutes, formatMinutes],
    ['95% land within', asItIs.p95Minutes, other.p95Minutes, formatMinutes],
  ] as const;
  return (
    <dl class="trial-figures">
      {figures.map(([name, base, value, format]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value === undefined ? '–' : format(value)}</strong>
            {base !== undefined && value !== undefined && (
              <span class="muted">
                {compare(value, base)} than {format(base)}
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ApplyProps {
  readonly place: QueuePlace;
  readonly changes: readonly Change[];
  readonly tried: Tried;
}

function Apply({ place, changes, tried }: ApplyProps) {
  const { asked: isAsked, done, button } = useAsked<true>();
  const list = (
    <ul class="changes-list">
      {changes.map(({ name, from, to }) => (
        <li key={name}>
          <code>{name}</code> <del>{from}</del> → <ins>{to}</ins>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {list}
      <div class="actions">
        <button
          type="button"
          onClick={() => setQuery({ mode: undefined, slots: undefined, adaptive: undefined, runCost: undefined })}
        >
          As it is
        </button>
        {may(place, 'admin') && button(true, 'Apply', 'main')}
      </div>
      {isAsked && (
        <Dialog
          title={`Change ${place.branch}?`}
          action="Apply"
          act={async () => {
            await call(place.org, 'updateQueue', { ...queueBody(place), ...settingsOf(changes, tried) });
            goTo(toPath({ page: 'queue', ...place }));
          }}
          onDone={done}
        >
          {list}
          <p class="muted">Candidates that are under test go on.</p>
        </Dialog>
      )}
    </>
  );
}

function Table({ replays }: { readonly replays: readonly Replay[] }) {
  const minutes = (value: number | undefined) => (value === undefined ? '–' : formatMinutes(value));
  return (
    <div class="table-frame">
      <table>
        <thead>
          <tr>
            <th>Settings</th>
            <th class="figure">CI hours</th>
            <th class="figure">CI runs per pull request</th>
            <th class="figure">Half land within</th>
            <th class="figure">95% land within</th>
            <th>
              <span class="skip">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {replays.map((replay) => (
            <tr key={nameOfReplay(replay)}>
              <td>{nameOfReplay(replay)}</td>
              <td class="figure">{formatHours(replay.ciHours)}</td>
              <td class="figure">{replay.runsPerDecided.toFixed(2)}</td>
              <td class="figure">{minutes(replay.p50Minutes)}</td>
              <td class="figure">{minutes(replay.p95Minutes)}</td>
              <td class="figure">
                {replay.runCost !== undefined && (
                  <button
                    type="button"
                    class="link"
                    onClick={() => setQuery({ adaptive: 'yes', runCost: String(replay.runCost) })}
                  >
                    Try
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
