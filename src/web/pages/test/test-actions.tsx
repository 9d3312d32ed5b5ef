import { useSignal } from '@preact/signals';
import { call } from '../../core/api.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ReasonField, SuitesField, UntilField, untilOf } from '../../ui/fields.tsx';
import { useAsked } from '../../ui/use-asked.tsx';
import { type Test, type TestPlace, testBody } from './place.ts';

interface Props {
  readonly place: TestPlace;
  readonly test: Test;
  readonly onChange: () => void;
}

type Act = 'quarantine' | 'never' | 'end' | 'allow' | 'flag' | 'unflag';

const BUTTONS: Readonly<Record<Act, string>> = {
  quarantine: 'Quarantine',
  never: 'Never quarantine',
  end: 'End quarantine',
  allow: 'Allow quarantine',
  flag: 'Flag as flaky',
  unflag: 'Take the flag away',
};

/** Decisions about the test, for those who may. */
export function TestActions({ place, test, onChange }: Props) {
  const { asked, done, button } = useAsked<Act>(onChange);
  if (!may(place, 'maintain')) return null;
  const own = { place, onDone: done };
  return (
    <div class="actions">
      {actsOn(test).map((act) => button(act, BUTTONS[act], act === 'quarantine' ? 'main' : undefined))}
      {(asked === 'quarantine' || asked === 'never') && (
        <Decide {...own} key={test.suites.length} isNever={asked === 'never'} suites={test.suites} />
      )}
      {(asked === 'end' || asked === 'allow') && <Clear {...own} act={asked} />}
      {(asked === 'flag' || asked === 'unflag') && <Flag {...own} isFlagged={asked === 'flag'} />}
    </div>
  );
}

function actsOn({ quarantine_override: decided, quarantined, flag, status }: Test): readonly Act[] {
  const flagging: readonly Act[] = flag !== undefined ? ['unflag'] : status.value === 'BROKEN' ? [] : ['flag'];
  if (decided !== undefined) return [decided.setting === 'ALWAYS_QUARANTINE' ? 'end' : 'allow', ...flagging];
  return [quarantined ? 'never' : 'quarantine', ...flagging];
}

interface AskProps {
  readonly place: TestPlace;
  readonly onDone: () => void;
}

function Decide({ place, onDone, isNever, suites }: AskProps & { isNever: boolean; suites: readonly string[] }) {
  const reason = useSignal('');
  const chosen = useSignal<readonly string[]>(suites.length > 1 ? [] : suites);
  const days = useSignal('14');
  const act = () => {
    const until = untilOf(days.value);
    return call(place.org, 'setQuarantine', {
      ...testBody(place),
      setting: isNever ? 'NEVER_QUARANTINE' : 'ALWAYS_QUARANTINE',
      reason: reason.value.trim(),
      ...(until === undefined ? {} : { expires_at: until }),
      ...(isNever || suites.length === 0 ? {} : { suites: [...chosen.value] }),
    });
  };
  return (
    <Dialog
      title={isNever ? 'Never quarantine this test?' : 'Quarantine this test?'}
      action={BUTTONS[isNever ? 'never' : 'quarantine']}
      act={act}
      onDone={onDone}
    >
      <p>
        {isNever
          ? 'Its failures block pull requests again, even if it is flaky.'
          : 'It still runs. Its failures block nobody until the quarantine ends.'}
      </p>
      {!isNever && suites.length > 1 && <SuitesField suites={suites} chosen={chosen} />}
      <ReasonField value={reason} isNeeded />
      <UntilField value={days} ends="until somebody decides otherwise" />
    </Dialog>
  );
}

function Clear({ place, onDone, act: asked }: AskProps & { readonly act: 'end' | 'allow' }) {
  const reason = useSignal('');
  const act = () =>
    call(place.org, 'setQuarantine', { ...testBody(place), setting: 'UNSPECIFIED', reason: reason.value.trim() });
  return (
    <Dialog title={`${BUTTONS[asked]}?`} action={BUTTONS[asked]} act={act} onDone={onDone}>
      <p>From now on the settings of the repository decide whether the test is quarantined.</p>
      <ReasonField value={reason} isNeeded />
    </Dialog>
  );
}

function Flag({ place, onDone, isFlagged }: AskProps & { readonly isFlagged: boolean }) {
  const reason = useSignal('');
  const act = () => {
    const why = reason.value.trim();
    return call(place.org, 'flagTest', {
      ...testBody(place),
      flagged: isFlagged,
      ...(why === '' ? {} : { reason: why }),
    });
  };
  return (
    <Dialog
      title={isFlagged ? 'Flag this test as flaky?' : 'Take the flag away?'}
      action={BUTTONS[isFlagged ? 'flag' : 'unflag']}
      act={act}
      onDone={onDone}
    >
      <p>
        {isFlagged
          ? 'It counts as flaky until somebody takes the flag away, whatever monitors see.'
          : 'From now on monitors alone decide whether it is flaky.'}
      </p>
      <ReasonField value={reason} />
    </Dialog>
  );
}
