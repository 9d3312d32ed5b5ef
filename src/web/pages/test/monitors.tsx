import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ReasonField, UntilField, untilOf } from '../../ui/fields.tsx';
import { State } from '../../ui/shape.tsx';
import { Ago, Sentence, Sha } from '../../ui/text.tsx';
import { useAsked } from '../../ui/use-asked.tsx';
import { type Test, type TestPlace, testBody } from './place.ts';

type Monitor = Test['monitors'][number];

interface Props {
  readonly place: TestPlace;
  readonly monitors: readonly Monitor[];
  readonly onChange: () => void;
}

/** The monitors that see something now, from which runs, and whether they count. */
export function Monitors({ place, monitors, onChange }: Props) {
  return (
    <section aria-label="What monitors see">
      <h2>What monitors see</h2>
      {monitors.length === 0 ? (
        <p class="muted">Nothing: no monitor detects it now.</p>
      ) : (
        <ul class="check-list">
          {monitors.map((monitor) => (
            <MonitorLine key={monitor.monitor_id} place={place} monitor={monitor} onChange={onChange} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** These say nothing about its health. */
const LABELLING: readonly string[] = ['new_test', 'skipped_test'];

function lookOf({ is_active, mute, type }: Monitor) {
  if (mute !== undefined) return { word: 'Muted', shape: 'dash', tone: 'quiet' } as const;
  if (LABELLING.includes(type)) return { word: 'Labels it', shape: 'dot', tone: 'busy' } as const;
  return is_active
    ? ({ word: 'Detects it', shape: 'mark', tone: 'warn' } as const)
    : ({ word: 'Sees nothing', shape: 'ring', tone: 'quiet' } as const);
}

interface LineProps {
  readonly place: TestPlace;
  readonly monitor: Monitor;
  readonly onChange: () => void;
}

function MonitorLine({ place, monitor, onChange }: LineProps) {
  const { asked: isAsked, done, button } = useAsked<true>(onChange);
  const { name, active_since, reason, evidence, mute } = monitor;
  return (
    <li>
      <span class="line">
        <State look={lookOf(monitor)} />
        <strong>{name}</strong>
        {active_since !== undefined && (
          <span class="muted">
            <Ago at={active_since} />
          </span>
        )}
        {may(place, 'maintain') && button(true, mute === undefined ? 'Mute' : 'End the mute', 'link')}
      </span>
      {reason !== undefined && (
        <p>
          <Sentence text={reason} />
        </p>
      )}
      {mute !== undefined && (
        <p class="muted">
          {mute.actor} muted it <Ago at={mute.at} />
          {mute.until !== undefined && (
            <>
              ; it counts again <Ago at={mute.until} />
            </>
          )}
          {mute.reason !== undefined && <>: “{mute.reason}”</>}
        </p>
      )}
      {evidence !== undefined && <Evidence evidence={evidence} />}
      {isAsked && <MuteDialog place={place} monitor={monitor} onDone={done} />}
    </li>
  );
}

function Evidence({ evidence: { runs, figures } }: { readonly evidence: NonNullable<Monitor['evidence']> }) {
  return (
    <ul class="evidence">
      {figures.length > 0 && (
        <li>{figures.map(({ name, value }) => `${name.replaceAll('_', ' ')} ${formatFigure(value)}`).join(', ')}</li>
      )}
      {runs.map(({ at, sha, branch, job, upload_id, tree, failed, passed }) => (
        <li key={`${upload_id} ${at}`}>
          <Ago at={at} /> on {branch} at <Sha sha={sha} />
          {job !== undefined && <> in {job}</>}
          {tree !== undefined && failed !== undefined && passed !== undefined && failed.sha !== passed.sha && (
            <>
              : tree <Sha sha={tree} /> failed at <Sha sha={failed.sha} /> and passed at <Sha sha={passed.sha} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function formatFigure(value: number): string {
  return (Math.round(value * 1000) / 1000).toLocaleString('en-US');
}

interface MuteProps {
  readonly place: TestPlace;
  readonly monitor: Monitor;
  readonly onDone: () => void;
}

function MuteDialog({ place, monitor, onDone }: MuteProps) {
  const reason = useSignal('');
  const days = useSignal('7');
  const { monitor_id, name, mute } = monitor;
  const body = { ...testBody(place), monitor_id };
  if (mute !== undefined) {
    const end = () => call(place.org, 'muteMonitor', { ...body, muted: false });
    return (
      <Dialog title={`End the mute of ${name}?`} action="End the mute" act={end} onDone={onDone}>
        <p>The monitor counts again for the status of this test.</p>
      </Dialog>
    );
  }
  const act = () => {
    const until = untilOf(days.value);
    const why = reason.value.trim();
    return call(place.org, 'muteMonitor', {
      ...body,
      ...(until === undefined ? {} : { until }),
      ...(why === '' ? {} : { reason: why }),
    });
  };
  return (
    <Dialog title={`Mute ${name} for this test?`} action="Mute" act={act} onDone={onDone}>
      <p>It goes on detecting, and does not count for the status and the labels of the test.</p>
      <ReasonField value={reason} />
      <UntilField value={days} ends="until somebody ends it" />
    </Dialog>
  );
}
