import { KEYS } from '../../model/keys.ts';
import { LightDialog } from '../../ui/light-dialog.tsx';

const BESIDE = [
  ['Enter', 'Open what has the focus'],
  ['Esc', 'Close a dialog'],
] as const;

export function KeysDialog({ onDone }: { readonly onDone: () => void }) {
  const lines = [...Object.entries(KEYS).map(([keys, [, text]]) => [keys, text] as const), ...BESIDE];
  return (
    <LightDialog label="Keys" name="light keys" onDone={onDone}>
      <h2>Keys</h2>
      <dl>
        {lines.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </LightDialog>
  );
}
