import { useSignal } from '@preact/signals';
import { call, send } from '../../core/api.ts';
import { keyOf, queueBody, touches } from '../../core/places.ts';
import type { Queue } from '../../core/replies.ts';
import { useResource } from '../../core/resource.ts';
import type { QueuePlace } from '../../core/route.ts';
import { may } from '../../core/session.ts';
import { fromField, type OpenApi, readSettings, type Setting, toField } from '../../model/settings.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useTitle } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { Sentence } from '../../ui/text.tsx';
import { useAsked } from '../../ui/use-asked.tsx';

/** Every setting with its sentence. Changes are shown before they are sent. */
export function SettingsPage({ place }: { readonly place: QueuePlace }) {
  useTitle(`Settings of ${place.branch}`);
  const queue = useResource(
    `settings ${keyOf(place)}`,
    (signal) => call(place.org, 'getQueue', queueBody(place), { signal }),
    { isTouchedBy: (event) => touches(place, event) && event.type === 'queue.settings_changed' },
  );
  const known = useResource('openapi', async () => readSettings((await send('/openapi.json', {})) as OpenApi));
  return (
    <>
      <h1>Settings</h1>
      <Loaded of={known}>
        {(settings) => (
          <Loaded of={queue}>
            {(value) => <Form place={place} queue={value} settings={settings} onChange={queue.refresh} />}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

interface FormProps {
  readonly place: QueuePlace;
  readonly queue: Queue;
  readonly settings: readonly Setting[];
  readonly onChange: () => void;
}

function Form({ place, queue, settings, onChange }: FormProps) {
  const edited = useSignal<ReadonlyMap<string, string>>(new Map());
  const { asked: isAsked, done, button } = useAsked<true>();
  const isEditable = may(place, 'admin');
  const readingOf = ({ name }: Setting) => (queue as unknown as Readonly<Record<string, unknown>>)[name];
  const isAutomatic = ({ name }: Setting) => queue.automaticSettings?.includes(name) === true;
  const currentOf = (setting: Setting) => (isAutomatic(setting) ? null : readingOf(setting));
  const changed = settings.filter((setting) => {
    const field = edited.value.get(setting.name);
    return field !== undefined && field !== toField(setting, currentOf(setting));
  });
  const edit = (setting: Setting, field: string) => {
    edited.value = new Map(edited.value).set(setting.name, field);
  };
  const act = () => {
    const fields = changed.map((setting) => [setting.name, fromField(setting, edited.value.get(setting.name) ?? '')]);
    return call(place.org, 'updateQueue', { ...queueBody(place), ...Object.fromEntries(fields) });
  };
  return (
    <>
      {!isEditable && <p class="muted">Your token may read them. An administrator changes them.</p>}
      <dl class="settings">
        {settings.map((setting) => (
          <div key={setting.name} class={changed.includes(setting) ? 'changed' : ''}>
            <dt>
              <label for={`setting-${setting.name}`}>{setting.name}</label>
              <p class="muted">
                <Sentence text={setting.sentence} />
              </p>
            </dt>
            <dd>
              <Field
                setting={setting}
                field={edited.value.get(setting.name) ?? toField(setting, currentOf(setting))}
                hint={isAutomatic(setting) ? `${readingOf(setting)} (automatic)` : ''}
                isEditable={isEditable}
                onEdit={(field) => edit(setting, field)}
              />
            </dd>
          </div>
        ))}
      </dl>
      {changed.length > 0 && (
        <div class="save">
          <span>
            {changed.length} {changed.length === 1 ? 'change' : 'changes'}
          </span>
          <button
            type="button"
            onClick={() => {
              edited.value = new Map();
            }}
          >
            Forget them
          </button>
          {button(true, 'Look at them', 'main')}
        </div>
      )}
      {isAsked && (
        <Dialog
          title={`Change ${place.branch}?`}
          action="Change"
          act={async () => {
            await act();
            edited.value = new Map();
            onChange();
          }}
          onDone={done}
        >
          <ul class="changes-list">
            {changed.map((setting) => (
              <li key={setting.name}>
                <code>{setting.name}</code> <del>{toField(setting, currentOf(setting)) || 'unset'}</del> →{' '}
                <ins>{edited.value.get(setting.name) || 'unset'}</ins>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  );
}

interface FieldProps {
  readonly setting: Setting;
  readonly field: string;
  /** The value that holds while the setting is unset. */
  readonly hint: string;
  readonly isEditable: boolean;
  readonly onEdit: (field: string) => void;
}

function Field({ setting, field, hint, isEditable, onEdit }: FieldProps) {
  const { name, kind, choices, least, most } = setting;
  const id = `setting-${name}`;
  if (kind === 'choice' || kind === 'flag') {
    const values = kind === 'flag' ? ['true', 'false'] : choices;
    return (
      <select id={id} value={field} disabled={!isEditable} onChange={(event) => onEdit(event.currentTarget.value)}>
        {values.map((value) => (
          <option key={value} value={value}>
            {kind === 'flag' ? (value === 'true' ? 'on' : 'off') : value}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'json') {
    return (
      <textarea
        id={id}
        rows={2}
        spellcheck={false}
        value={field}
        disabled={!isEditable}
        onInput={(event) => onEdit(event.currentTarget.value)}
      />
    );
  }
  const common = {
    id,
    value: field,
    placeholder: hint,
    disabled: !isEditable,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onEdit(event.currentTarget.value),
  };
  if (kind === 'text') return <input type="text" {...common} />;
  const bounds = { ...(least === undefined ? {} : { min: least }), ...(most === undefined ? {} : { max: most }) };
  return <input type="number" step="any" {...bounds} {...common} />;
}
