import type { Look, Shape as Name } from '../model/state.ts';

const PATHS: Readonly<Record<Name, preact.JSX.Element>> = {
  ring: <circle cx="8" cy="8" r="5.5" class="line" />,
  half: (
    <>
      <circle cx="8" cy="8" r="5.5" class="line" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" class="fill" />
    </>
  ),
  check: (
    <>
      <circle cx="8" cy="8" r="7" class="fill" />
      <path d="M4.8 8.3l2.2 2.2 4.2-4.6" class="on" />
    </>
  ),
  cross: (
    <>
      <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" class="fill" />
      <path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" class="on" />
    </>
  ),
  dash: (
    <>
      <circle cx="8" cy="8" r="5.5" class="line" />
      <path d="M5.5 8h5" class="line" />
    </>
  ),
  mark: (
    <>
      <path d="M8 1.2l7 12.8H1z" class="fill" />
      <path d="M8 6v3.6M8 11.6v.4" class="on" />
    </>
  ),
  pause: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="3" class="fill" />
      <path d="M6.2 5v6M9.8 5v6" class="on" />
    </>
  ),
  drop: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="3" class="fill" />
      <path d="M8 4.5v6M5.3 8L8 10.8 10.7 8" class="on" />
    </>
  ),
  dot: <circle cx="8" cy="8" r="4.5" class="fill" />,
};

export function Shape({ name }: { readonly name: Name }) {
  return (
    <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
      {PATHS[name]}
    </svg>
  );
}

/** A state as shape, colour and word. */
export function State({ look, isLarge = false }: { readonly look: Look; readonly isLarge?: boolean }) {
  return (
    <span class={`state tone-${look.tone}${isLarge ? ' large' : ''}`}>
      <Shape name={look.shape} />
      {look.word}
    </span>
  );
}
