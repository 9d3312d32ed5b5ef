/**
 * Commands that a hostile pull request may bring. They harm nothing but what the tests made, also where nothing holds
 * them: a protection that fails must cost a red test, and not the machine.
 */

/** Leaves processes behind in every possible way, which write into each tree they find, again and again. */
export function leaveBehind(script: string): string {
  // Long enough for any test, but not for ever if nothing ends it.
  const forever = `i=0; while [ $i -lt 2000 ]; do ${script}; sleep 0.01; i=$((i+1)); done`;
  return `cat > "$HOME/left" <<'LEFT'
${forever}
LEFT
setsid sh "$HOME/left" >/dev/null 2>&1 &
nohup sh "$HOME/left" >/dev/null 2>&1 &
(env -i setsid sh "$HOME/left" >/dev/null 2>&1 & (setsid sh "$HOME/left" >/dev/null 2>&1 &) &)
( ( exec env -i PATH="$PATH" setsid sh -c '. "$0"' "$HOME/left" ) >/dev/null 2>&1 & )
sleep 0.2; true`;
}

/**
 * Repairs every broken work tree in reach: in the runner's folder, at the paths that other checks see, and by /proc. It
 * starts no process, so it tries often.
 */
export function hijackTrees(folder: string): string {
  return `for t in '${folder}'/*/*/tree /check/tree /proc/[0-9]*/cwd /proc/[0-9]*/root/check/tree; do
  s=; read -r s < "$t/state"; [ "$s" = broken ] && echo mended > "$t/state"
done 2>/dev/null`;
}

/** Reads the environments of all processes. */
export const READ_ENVIRONMENTS = `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a`;
