import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { now } from '../../core/clock.ts';
import { setQuery } from '../../core/location.ts';
import { queueBody } from '../../core/places.ts';
import type { Queue } from '../../core/replies.ts';
import type { QueuePlace } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { isStranger } from '../../core/stranger.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useAsked } from '../../ui/use-asked.tsx';

interface Props {
  readonly place: QueuePlace;
  readonly queue: Queue;
  readonly onChange: () => void;
}

const HOURS = [
  ['', 'until somebody resumes it'],
  ['1', 'for an hour'],
  ['4', 'for four hours'],
  ['24', 'for a day'],
] as const;

/** Pause and resume, for those who may. */
export function QueueActions({ place, queue, onChange }: Props) {
  const { asked, done, button } = useAsked<'pause' | 'resume' | 'submit' | 'revert'>(onChange);
  const broken = queue.held?.breakage;
  return (
    <div class="actions">
      {may(place, 'submit') && button('submit', 'Submit a pull request')}
      {broken?.commit !== undefined &&
        may(place, 'maintain') &&
        button('revert', `Take back ${nameOf(broken)}`, 'main')}
      {may(place, 'maintain') &&
        (queue.state === 'RUNNING' ? button('pause', 'Pause') : button('resume', 'Resume', 'main'))}
      {!isStranger.value && (
        <button type="button" onClick={() => setQuery({ at: new Date(now.peek()).toISOString() })}>
          Look back
        </button>
      )}
      {asked === 'pause' && <Pause place={place} onDone={done} />}
      {asked === 'resume' && <Resume place={place} onDone={done} />}
      {asked === 'revert' && broken !== undefined && <Revert place={place} broken={broken} onDone={done} />}
      {asked === 'submit' && <Submit place={place} onDone={done} />}
    </div>
  );
}

function Pause({ place, onDone }: { readonly place: QueuePlace; readonly onDone: () => void }) {
  const reason = useSignal('');
  const hours = useSignal('');
  const act = () => {
    const until =
      hours.value === '' ? {} : { until: new Date(now.peek() + Number(hours.value) * 3_600_000).toISOString() };
    const why = reason.value.trim() === '' ? {} : { reason: reason.value.trim() };
    return call(place.org, 'updateQueue', { ...queueBody(place), state: 'PAUSED', ...why, ...until });
  };
  return (
    <Dialog title={`Pause ${place.branch}?`} action="Pause" act={act} onDone={onDone}>
      <p>Nothing is tested and nothing lands. Pull requests can still be submitted.</p>
      <label for="reason">Reason, which authors see</label>
      <input
        id="reason"
        maxLength={500}
        value={reason.value}
        onInput={(event) => {
          reason.value = event.currentTarget.value;
        }}
      />
      <label for="hours">How long</label>
      <select
        id="hours"
        value={hours.value}
        onChange={(event) => {
          hours.value = event.currentTarget.value;
        }}
      >
        {HOURS.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Dialog>
  );
}

function Resume({ place, onDone }: { readonly place: QueuePlace; readonly onDone: () => void }) {
  const act = () => call(place.org, 'updateQueue', { ...queueBody(place), state: 'RUNNING' });
  return (
    <Dialog title={`Resume ${place.branch}?`} action="Resume" act={act} onDone={onDone}>
      <p>Testing and landing go on at once.</p>
    </Dialog>
  );
}

type Breakage = NonNullable<NonNullable<Queue['held']>['breakage']>;

function nameOf({ commit, prNumber }: Breakage): string {
  return prNumber === undefined ? `${commit?.slice(0, 12)}` : `#${prNumber}`;
}

interface RevertProps extends Pick<Props, 'place'> {
  readonly broken: Breakage;
  readonly onDone: () => void;
}

function Revert({ place, broken, onDone }: RevertProps) {
  const { prNumber, commit } = broken;
  const what = prNumber === undefined ? { commit } : { pr: { number: prNumber } };
  const act = () => call(place.org, 'revertPullRequest', { ...queueBody(place), ...what });
  return (
    <Dialog title={`Take back ${nameOf(broken)}?`} action="Take it back" act={act} onDone={onDone}>
      <p>{broken.text}</p>
      <p>A pull request of the revert is made. It is tested alone on {place.branch}, and lands first if it passes.</p>
    </Dialog>
  );
}

const PRIORITIES = ['urgent', 'high', 'medium', 'low'] as const;

function Submit({ place, onDone }: { readonly place: QueuePlace; readonly onDone: () => void }) {
  const number = useSignal('');
  const priority = useSignal('');
  const act = () => {
    const chosen = priority.value === '' ? {} : { priority: priority.value };
    return call(place.org, 'submitPullRequest', {
      ...queueBody(place),
      pr: { number: Number(number.value) },
      ...chosen,
    });
  };
  return (
    <Dialog title={`Submit to ${place.branch}`} action="Submit" act={act} onDone={onDone}>
      <label for="number">Number of the pull request</label>
      <input
        id="number"
        inputMode="numeric"
        pattern="[1-9][0-9]*"
        required
        value={number.value}
        onInput={(event) => {
          number.value = event.currentTarget.value;
        }}
      />
      <label for="priority">Priority</label>
      <select
        id="priority"
        value={priority.value}
        onChange={(event) => {
          priority.value = event.currentTarget.value;
        }}
      >
        <option value="">the default</option>
        {PRIORITIES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </Dialog>
  );
}
