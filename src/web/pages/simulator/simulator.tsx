import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { goTo } from '../../core/location.ts';
import { keyOf, queueBody } from '../../core/places.ts';
import { useResource } from '../../core/resource.ts';
import { type QueuePlace, toPath } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useTitle } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { Curve } from './curve.tsx';
import { nameOfReplay, type Replay } from './name-of-replay.ts';

/** The last weeks of this queue, replayed under other settings. */
export function SimulatorPage({ place }: { readonly place: QueuePlace }) {
  useTitle(`Simulator of ${place.branch}`);
  const advice = useResource(`advice ${keyOf(place)}`, (signal) =>
    call(place.org, 'adviseQueue', queueBody(place), { signal }),
  );
  return (
    <>
      <h1>Simulator</h1>
      <p class="muted">
        The pull requests that this queue decided last are replayed in simulated time: as the queue is set, and with
        ADAPTIVE at five prices of a CI run.
      </p>
      <Loaded of={advice}>
        {({ decided, text, replays }) =>
          replays.length === 0 ? (
            <Empty title="Too little history" isPart>
              <p>{text}</p>
              <p>Meanwhile, the command line compares settings on made-up pull requests, or on a file of outcomes:</p>
              <pre>
                <code>sluice simulate --per-hour 20 --failure-rate 0.05 --set optimizationMode=ADAPTIVE</code>
              </pre>
            </Empty>
          ) : (
            <>
              <p class="lead">{text}</p>
              <Curve replays={replays} />
              <Table place={place} replays={replays} />
              <p class="muted">{decided} pull requests were replayed. Runs that fail by chance are not simulated.</p>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Table({ place, replays }: { readonly place: QueuePlace; readonly replays: readonly Replay[] }) {
  const chosen = useSignal<number | undefined>(undefined);
  const minutes = (value: number | undefined) => (value === undefined ? '–' : `${value.toFixed(0)} min`);
  return (
    <div class="table-frame">
      <table>
        <thead>
          <tr>
            <th>Settings</th>
            <th class="figure">CI runs per pull request</th>
            <th class="figure">Half land within</th>
            <th class="figure">95% land within</th>
            {may(place.org, 'admin') && (
              <th>
                <span class="skip">Act</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {replays.map((replay) => (
            <tr key={nameOfReplay(replay)}>
              <td>{nameOfReplay(replay)}</td>
              <td class="figure">{replay.runsPerDecided.toFixed(2)}</td>
              <td class="figure">{minutes(replay.p50Minutes)}</td>
              <td class="figure">{minutes(replay.p95Minutes)}</td>
              {may(place.org, 'admin') && (
                <td>
                  {replay.runCost !== undefined && (
                    <button
                      type="button"
                      onClick={() => {
                        chosen.value = replay.runCost;
                      }}
                    >
                      Apply
                    </button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {chosen.value !== undefined && (
        <Dialog
          title={`Use ADAPTIVE on ${place.branch}?`}
          action="Apply"
          act={() =>
            call(place.org, 'updateQueue', { ...queueBody(place), optimizationMode: 'ADAPTIVE', runCost: chosen.value })
          }
          onDone={() => {
            chosen.value = undefined;
            goTo(toPath({ page: 'queue', ...place }));
          }}
        >
          <p>
            <code>optimizationMode</code> becomes <code>ADAPTIVE</code>, and <code>runCost</code> {chosen.value}. The
            queue then sizes its own groups; what is under test goes on.
          </p>
        </Dialog>
      )}
    </div>
  );
}
