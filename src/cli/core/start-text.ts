/** The step after a refused connection. The build of the command line alone replaces it: that package has no server. */
// SPEC W61
export const START_TEXT = 'Start one with `sluice serve`, or set SLUICE_URL.';
