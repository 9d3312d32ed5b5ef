import { computed } from '@preact/signals';
import { query, route } from './location.ts';
import { isOpen } from './open-pages.ts';
import { publicRepositories, sessionOf } from './session.ts';

/** The page that is shown is public, and nobody is signed in. */
export const isStranger = computed(() => {
  const shown = route.value;
  if ('org' in shown && sessionOf(shown.org) !== undefined) return false;
  return isOpen(shown, publicRepositories.value, query.value.has('at'));
});
